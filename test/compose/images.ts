/**
 * The images that docker-compose.yml and the Dockerfile name: those that are here, else from their
 * registry, else stand-ins under the same names, made of what package registries have.
 */

import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { parse } from 'yaml'
import { projectRoot } from '../support/documents.js'
import { docker } from './engine.js'

const run = promisify(execFile)

interface ComposeFile {
  readonly services: Readonly<Record<string, { image: string; build?: string }>>
}

export async function imagesNeeded(): Promise<string[]> {
  const [compose, dockerfile] = await Promise.all(
    ['docker-compose.yml', 'Dockerfile'].map((file) => readFile(join(projectRoot, file), 'utf8')),
  )
  const { services } = parse(compose ?? '', { merge: true }) as ComposeFile
  const fetched = Object.values(services).filter(({ build }) => build === undefined)
  const bases = [...(dockerfile ?? '').matchAll(/^FROM (\S+)/gm)].map(([, image = '']) => image)
  return [...new Set([...bases, ...fetched.map(({ image }) => image)])]
}

/** @returns a line for each image: where it comes from */
export async function getImages(images: readonly string[]): Promise<string[]> {
  const lines: string[] = []
  for (const image of images) {
    if (!(await isHere(image)) && !(await pull(image))) {
      await run(join(projectRoot, 'scripts/stand-in-images/build.sh'), [image])
    }
    const standIn = await docker(
      'image',
      'inspect',
      '--format',
      '{{index .Config.Labels "stand-in"}}',
      image,
    )
    lines.push(`${image}: ${standIn === '' ? 'the published image' : `a stand-in, ${standIn}`}`)
  }
  return lines
}

function isHere(image: string): Promise<boolean> {
  return succeeds(docker('image', 'inspect', image))
}

function pull(image: string): Promise<boolean> {
  return succeeds(docker('pull', '--quiet', image))
}

function succeeds(work: Promise<unknown>): Promise<boolean> {
  return work.then(
    () => true,
    () => false,
  )
}
