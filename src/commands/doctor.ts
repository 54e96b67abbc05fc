/** `doctor`: looks at all that the service rests on, and says how to mend what is not in order. */

import type { Environment } from '../config/read-options.js'
import { examineAll } from '../doctor/examination.js'
import { reportLines } from '../doctor/report.js'
import { printJson, printLine } from './output.js'

/** 0 where nothing has failed (a warning is no failure), 2 where the options are wrong, else 1. */
export async function doctorCommand(
  environment: Environment,
  options: { json?: true },
): Promise<0 | 1 | 2> {
  const findings = await examineAll(environment)
  await (options.json ? printJson(findings) : printLine(reportLines(findings).join('\n')))
  const hasFailed = findings.filter(({ status }) => status === 'failed')
  if (hasFailed.length === 0) return 0
  return hasFailed.some(({ check }) => check === 'options') ? 2 : 1
}
