/** Answers in Grafana's place: healthy where the files that Grafana would read are mounted and not empty. */

import { createServer } from 'node:http'
import { statSync } from 'node:fs'
import process from 'node:process'

const files = [
  '/etc/grafana/provisioning/datasources/prometheus.yml',
  '/etc/grafana/provisioning/dashboards/chat-provision-retry.yml',
  process.env.GF_DASHBOARDS_DEFAULT_HOME_DASHBOARD_PATH,
]

createServer((_request, response) => {
  try {
    const empty = files.filter((file) => statSync(file).size === 0)
    response.statusCode = empty.length === 0 ? 200 : 503
    response.end(JSON.stringify({ database: 'none', version: 'stand-in', empty }))
  } catch (error) {
    response.statusCode = 503
    response.end(error.message)
  }
}).listen(3000)

process.on('SIGTERM', () => process.exit(0))
