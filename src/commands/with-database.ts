/** One connection for the length of a command that only talks to the database. */

import type { Kysely } from 'kysely'
import type { Config } from '../config/config.js'
import { loadConfig } from '../config/load-config.js'
import type { Environment } from '../config/read-options.js'
import { createDatabase } from '../postgres/connect.js'
import { checkSchema } from '../postgres/schema-check.js'
import type { Database } from '../postgres/schema.js'
import { explainUnavailable } from '../postgres/unavailable.js'

/**
 * @param schema 'checked' for whoever reads or writes the tables: refused where they are not in order;
 *   'any' for the migrations, which are there to change that, and whose statements take their time
 * @throws AppError of checkSchema, DATABASE_UNAVAILABLE, or whatever `work` throws
 */
export async function withDatabase<T>(
  environment: Environment,
  schema: 'checked' | 'any',
  work: (db: Kysely<Database>, config: Config) => Promise<T>,
): Promise<T> {
  const config = loadConfig(environment, { database: true, kafka: false, http: false })
  const db = createDatabase({
    connectionString: config.database.url,
    applicationName: 'chat-provision-retry command',
    max: 1,
    longStatements: schema === 'any',
    // The statement that is under way rejects with the same error.
    onConnectionLost: () => undefined,
  })
  try {
    if (schema === 'checked') await checkSchema(db)
    return await work(db, config)
  } catch (error) {
    throw explainUnavailable(error, config.database)
  } finally {
    await db.destroy()
  }
}
