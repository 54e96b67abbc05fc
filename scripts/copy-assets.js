// Puts what the compiler leaves alone, The Deck's stylesheet and script, beside what it has compiled.

import { cpSync, rmSync } from 'node:fs'
import { URL } from 'node:url'

const assets = 'http/deck/assets/'
const [from, to] = ['src', 'dist'].map((root) => new URL(`../${root}/${assets}`, import.meta.url))

rmSync(to, { recursive: true, force: true })
cpSync(from, to, { recursive: true })
