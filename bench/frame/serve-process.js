/** `serve` as a process of its own, and what it takes of the machine (Linux tells it in /proc). */

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import process from 'node:process'

const cliPath = fileURLToPath(new globalThis.URL('../../dist/cli.js', import.meta.url))
/** As its first line has it: `#!/usr/bin/env -S node FLAG ...`. */
const shippedFlags = readFileSync(cliPath, 'utf8').split('\n', 1)[0].split(' ').slice(3)
/** Of /proc/PID/stat; 100 on every Linux that Node runs on. */
const ticksPerSecond = 100

const ignore = () => undefined

/**
 * @param preload a module that the process loads before the program; it may write lines to descriptor 3
 * @param onLog gets the log as it comes
 * @param onLine gets what the preloaded module writes, line by line
 * @returns once it listens: its address, what it has taken so far, and how to end it
 */
export async function startServe(environment, { preload, onLog = ignore, onLine = ignore } = {}) {
  const nodeOptions = [...shippedFlags, ...(preload === undefined ? [] : ['--import', preload])]
  const child = spawn(process.execPath, [...nodeOptions, cliPath, 'serve'], {
    env: { PATH: process.env.PATH, HTTP_PORT: '0', ...environment },
    stdio: ['ignore', 'ignore', 'pipe', preload === undefined ? 'ignore' : 'pipe'],
  })
  const exited = once(child, 'close')
  if (preload !== undefined) createInterface({ input: child.stdio[3] }).on('line', onLine)
  const address = await listening(child, onLog)
  return {
    address,
    pid: child.pid,
    hasExited: () => child.exitCode !== null || child.signalCode !== null,
    signal: (name) => child.kill(name),
    usage: () => usageOf(child.pid),
    /** @throws where it does not end well */
    async stop() {
      child.kill('SIGTERM')
      const [code] = await exited
      if (code !== 0) throw new Error(`serve ended with ${code}`)
    },
  }
}

/** Reads the log on for as long as it comes, for a full pipe would stop the process. */
function listening(child, onLog) {
  let text = ''
  let address
  return new Promise((resolve, reject) => {
    child.stderr.setEncoding('utf8').on('data', (part) => {
      onLog(part)
      if (address !== undefined) return
      text += part
      address = /"address":"([^"]+)"/.exec(text)?.[1]
      if (address !== undefined) resolve(address)
    })
    child.once('close', () => reject(new Error(`serve ended early:\n${text}`)))
  })
}

/** Seconds of CPU, megabytes resident, now and at the most, and open file descriptors. */
async function usageOf(pid) {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8')
  // The name, in brackets, may hold spaces; the fields behind it don't.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  const status = await readFile(`/proc/${pid}/status`, 'utf8')
  const megabytes = (name) => Number(new RegExp(`${name}:\\s+(\\d+)`).exec(status)?.[1]) / 1024
  return {
    cpuSeconds: (Number(fields[11]) + Number(fields[12])) / ticksPerSecond,
    rssMb: megabytes('VmRSS'),
    peakRssMb: megabytes('VmHWM'),
    descriptors: (await readdir(`/proc/${pid}/fd`)).length,
  }
}
