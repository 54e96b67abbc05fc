/** Throughput and failures over time, as the charts of an overview take them. */

import { createPostgresStorage } from '../../chokaq/index.js'
import { readThroughputSeries } from '../../operations/throughput-series.js'
import type { ApiContext, ApiServer } from './context.js'
import { readOnly } from './read-only.js'
import { routeSchema } from './route-schema.js'
import { seriesQuery } from './schemas/inputs.js'
import { series } from './schemas/series.js'

export function addSeriesRoute(app: ApiServer, { db, config }: ApiContext): void {
  app.get(
    '/series',
    {
      schema: routeSchema({
        id: 'getSeries',
        tag: 'overview',
        summary: 'What was done and what failed over time',
        description:
          'Columns of equal length, oldest first; the last bucket is still being filled.',
        querystring: seriesQuery,
        answers: { 200: { about: 'The series.', schema: series } },
      }),
    },
    ({ query: { window } }) =>
      readOnly(db, (trx) =>
        readThroughputSeries(trx, createPostgresStorage({ db: trx }), {
          window,
          relay: config.outbox.relay,
        }),
      ),
  )
}
