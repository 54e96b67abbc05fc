/**
 * Keeps the run's PostgreSQL for a person who looks into a failed test, until the next run.
 *
 * Not in CI, where nobody looks and a process left behind would hold up the machine.
 */

import { mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import pg from 'pg'
import { EmbeddedPostgres } from '../../src/demo/servers/embedded-postgres.js'
import type { TestPostgres } from './servers.js'

const cacheFolder = new URL('../../.cache/', import.meta.url)
const noteFile = new URL('kept-postgres.json', cacheFolder)

interface Note {
  readonly pid: number
  readonly folder: string
}

/** Stops the server, or leaves an embedded one running where failed tests have kept a database on it. */
export async function stopOrKeep(postgres: TestPostgres): Promise<void> {
  const mayStay = postgres instanceof EmbeddedPostgres && process.env['CI'] === undefined
  if (!mayStay || !(await hasKeptDatabases(postgres.url))) {
    await postgres.stop()
    return
  }
  const note: Note = postgres.leaveRunning()
  await mkdir(cacheFolder, { recursive: true })
  await writeFile(noteFile, JSON.stringify(note))
  process.stderr.write(
    `\nPostgreSQL (pid ${note.pid}) is kept for the failed tests until the next run: ${postgres.url}\n`,
  )
}

/** Ends the server that an earlier run kept. */
export async function endKeptServer(): Promise<void> {
  const note = await readNote()
  if (note === undefined) return
  // PostgreSQL's own file says whether the pid is still its: it is removed by an orderly end.
  const pidFile = await readFile(join(note.folder, 'data', 'postmaster.pid'), 'utf8').catch(
    () => '',
  )
  if (pidFile.split('\n')[0] === String(note.pid)) endProcess(note.pid)
  await rm(note.folder, { recursive: true, force: true })
  await rm(noteFile, { force: true })
}

function endProcess(pid: number): void {
  try {
    process.kill(pid, 'SIGQUIT')
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error
  }
}

async function readNote(): Promise<Note | undefined> {
  try {
    return JSON.parse(await readFile(noteFile, 'utf8')) as Note
  } catch {
    // None was kept.
    return undefined
  }
}

async function hasKeptDatabases(url: string): Promise<boolean> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    const found = await client.query(`select from pg_database where datname like 'test\\_%'`)
    return (found.rowCount ?? 0) > 0
  } finally {
    await client.end()
  }
}
