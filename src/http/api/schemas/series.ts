/** The answer of `/series`. */

import { z } from 'zod'
import { seriesWindows, type ThroughputSeries } from '../../../operations/throughput-series.js'

const column = z.array(z.int().min(0))

export const series = z
  .object({
    window: z.enum(seriesWindows),
    bucketSeconds: z.int(),
    at: z.array(z.number()).meta({ description: 'Where each bucket begins, seconds since 1970.' }),
    provisions: z
      .object({
        provisioned: column,
        retried: column,
        failed: column.meta({ description: 'Rows that became poison.' }),
        cycles: column,
        aborted: column.meta({ description: 'Cycles that ended early.' }),
      })
      .meta({ description: 'Of the cycles that began in the bucket.' }),
    published: column.nullable().meta({ description: 'Events; null where Debezium relays.' }),
    jobs: z.object({
      succeeded: column,
      failed: column.meta({ description: 'That became dead letters.' }),
      retried: column,
    }),
  })
  .meta({ id: 'Series' }) satisfies z.ZodType<ThroughputSeries>
