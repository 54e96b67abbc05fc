/** All checks of `doctor`, from the options to the last row. Looks only: nothing is changed or held. */

import type { Environment } from '../config/read-options.js'
import { databaseCheckNames, examineDatabase } from './database-checks.js'
import { skipped, type Finding } from './finding.js'
import { examineKafka } from './kafka-checks.js'
import { usableOptions } from './usable-options.js'

/** Never rejects for what it looks at: each trouble is a finding, in a fixed order. */
export async function examineAll(environment: Environment): Promise<Finding[]> {
  const { verdict, forDatabase, forKafka } = usableOptions(environment)
  const [database, kafka] = await Promise.all([
    forDatabase === undefined
      ? databaseCheckNames.map(withoutOptions)
      : examineDatabase(forDatabase),
    forKafka === undefined ? [withoutOptions('broker')] : examineKafka(forKafka),
  ])
  return [{ check: 'options', ...verdict }, ...database, ...kafka]
}

function withoutOptions(check: string): Finding {
  return { check, ...skipped('its address is not known: see options') }
}
