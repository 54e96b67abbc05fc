/** Reads a logical slot as a connector does, and confirms just what it is told to. */

import pg from 'pg'

/** The parts of pg's connection that carry the replication protocol; its types leave them out. */
interface CopyBoth {
  sendCopyFromChunk(chunk: Buffer): void
}

export interface LogicalReader {
  /** Tells the server that all before this place, such as `0/1A2B3C`, is safe elsewhere. */
  confirm(lsn: string): void
  close(): Promise<void>
}

export async function readSlot(
  url: string,
  slot: string,
  publication: string,
): Promise<LogicalReader> {
  const options = { connectionString: url, replication: 'database' }
  const client = new pg.Client(options)
  client.on('error', () => undefined)
  await client.connect()
  const connection = (client as unknown as { connection: CopyBoth & NodeJS.EventEmitter })
    .connection
  const started = new Promise<void>((resolve) => connection.once('replicationStart', resolve))
  // It ends with the session, which `close` cuts.
  void client
    .query(
      `START_REPLICATION SLOT ${slot} LOGICAL 0/0 (proto_version '1', publication_names '${publication}')`,
    )
    .catch(() => undefined)
  await started
  return {
    confirm: (lsn) => connection.sendCopyFromChunk(standbyStatus(lsn)),
    close: async () => {
      const { stream } = connection as unknown as {
        stream: NodeJS.EventEmitter & { destroy(): void }
      }
      const closed = new Promise<void>((resolve) => stream.once('close', () => resolve()))
      stream.destroy()
      await closed
    },
  }
}

/** Standby status update: written, flushed, applied, clock, "no reply please". */
function standbyStatus(lsn: string): Buffer {
  const [high = '0', low = '0'] = lsn.split('/')
  const place = (BigInt(`0x${high}`) << 32n) | BigInt(`0x${low}`)
  const message = Buffer.alloc(34)
  message.write('r')
  for (const offset of [1, 9, 17]) message.writeBigUInt64BE(place, offset)
  return message
}
