/** What a piece of work took of this process, of PostgreSQL's processes on this machine, and of its WAL. */

import { readdir, readFile } from 'node:fs/promises'
import process from 'node:process'

/** Of /proc/PID/stat; 100 on every Linux that Node runs on. */
const ticksPerSecond = 100

/**
 * @param adminQuery of a superuser, on the server whose processes are looked at
 * @returns for each of `pieces`: microseconds of CPU here and in the server, bytes of WAL
 */
export async function costOf(adminQuery, pieces, work) {
  const before = await reading(adminQuery)
  await work()
  const after = await reading(adminQuery)
  const each = (name) => Math.round((after[name] - before[name]) / pieces)
  return {
    'client CPU µs': each('clientMicroseconds'),
    'server CPU µs': each('serverMicroseconds'),
    'WAL bytes': each('walBytes'),
  }
}

async function reading(adminQuery) {
  const [row] = await adminQuery(`
    select split_part(pg_read_file('postmaster.pid'), E'\\n', 1)::int as pid,
      pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')::float8 as wal where $1 <> ''`)
  const { user, system } = process.cpuUsage()
  return {
    clientMicroseconds: user + system,
    serverMicroseconds: 1e6 * ((await ticksOfTree(row.pid)) / ticksPerSecond),
    walBytes: row.wal,
  }
}

/** Its own, its living children's, and those of the children that it has seen off. */
async function ticksOfTree(postmaster) {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name))
  const stats = await Promise.all(pids.map(statOf))
  return stats.reduce((sum, stat) => {
    if (stat?.pid === postmaster) return sum + stat.own + stat.ended
    return stat?.parent === postmaster ? sum + stat.own : sum
  }, 0)
}

async function statOf(pid) {
  let text
  try {
    text = await readFile(`/proc/${pid}/stat`, 'utf8')
  } catch {
    // It has ended meanwhile.
    return undefined
  }
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
  const [user, system, endedUser, endedSystem] = fields.slice(11, 15).map(Number)
  return {
    pid: Number(pid),
    parent: Number(fields[1]),
    own: user + system,
    ended: endedUser + endedSystem,
  }
}
