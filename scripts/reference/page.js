/** docs/reference.md: all names that others may rely on, from the tables of the code. */

import { pino } from 'pino'
import { optionTable } from '../../dist/config/options.js'
import { createMetrics } from '../../dist/telemetry/metrics.js'
import { readAlerts } from './alerts.js'
import { readCommands } from './commands.js'
import { readLogEvents } from './log-events.js'
import { code, table } from './markdown.js'

export async function referencePage() {
  return `<!-- made by \`npm run docs\`, from the tables of the code: don't change it by hand -->

# Reference

[Options](#options) · [Commands](#commands) · [Metrics](#metrics) · [Log events](#log-events) ·
[Alerts](#alerts)

## Options

Environment variables. \`NAME_FILE\` reads NAME from a file. Secrets never show in logs or answers.

${options()}

## Commands

Exit code 0: done, 1: failed, 2: wrong use or configuration. Each has \`--help\`.

${commands()}

## Metrics

On \`/metrics\`, in Prometheus's text format, from the start and at 0 where there is nothing.

${metrics()}

### Of the process

By the names and in the words of prom-client, as they are on Linux. \`nodejs_eventloop_lag_seconds\` is measured at
the scrape; the others of the event loop come from a timer of 50 ms, and at rest are about that and not 0.

${metricsOfProcess()}

## Log events

JSON lines on stderr; \`event\` is the name. All lines have \`time\` and \`level\`, those of a cycle
\`jobRunId\`. Titles, members, connection strings and tokens are never logged. \`level\` is a number:
${logLevels()}.

${logEvents()}

## Alerts

The rules: [chat-provision-retry.rules.yml](../runbooks/alerts/chat-provision-retry.rules.yml).

${await alerts()}
`
}

function options() {
  const rows = optionTable().map((option) => [
    code(option.name),
    option.default && code(option.default),
    option.allowed + (option.secret ? ' (secret)' : ''),
    option.about,
  ])
  return table(['name', 'default', 'allowed', 'what it does'], rows)
}

function commands() {
  return readCommands()
    .map(({ usage, about, options: known }) => {
      const rows = known.map(({ term, about: what, isRequired }) => [
        code(term),
        isRequired ? `${what} (required)` : what,
      ])
      const text = `### ${code(usage)}\n\n${about}\n`
      return rows.length === 0 ? text : `${text}\n${table(['option', 'what it does'], rows)}\n`
    })
    .join('\n')
    .trimEnd()
}

function metrics() {
  const relayed = createMetrics({ relay: 'kafka' }).table()
  const unrelayed = createMetrics({ relay: 'off' }).table()
  const everywhere = (name, rows) => rows.some((row) => row.name === name)
  const all = [...relayed, ...unrelayed.filter(({ name }) => !everywhere(name, relayed))]
  const rows = all.map((row) => {
    const where = everywhere(row.name, relayed)
      ? everywhere(row.name, unrelayed)
        ? ''
        : ' Not where Debezium relays.'
      : ' Only where Debezium relays.'
    return metricCells(row, where)
  })
  return table(metricColumns, rows)
}

const metricColumns = ['name', 'type', 'labels', 'what it tells']

function metricCells({ name, type, help, labels }, where = '') {
  return [code(name), type, labels.map(code).join(', '), help + where]
}

function metricsOfProcess() {
  const own = new Set(
    createMetrics()
      .table()
      .map(({ name }) => name),
  )
  const rows = createMetrics({ ofProcess: true })
    .table()
    .filter(({ name }) => !own.has(name))
  return table(
    metricColumns,
    rows.map((row) => metricCells(row)),
  )
}

function logLevels() {
  return Object.entries(pino.levels.values)
    .map(([name, number]) => `${name} ${number}`)
    .join(', ')
}

function logEvents() {
  const rows = readLogEvents().map(({ name, levels, fields }) => [
    code(name),
    levels.join(', '),
    fields.map(code).join(', '),
  ])
  return table(['event', 'level', 'fields'], rows)
}

async function alerts() {
  const rows = (await readAlerts()).map(({ name, severity, condition, lasting, runbook }) => [
    name,
    severity,
    code(condition),
    lasting,
    `[${runbook.replace('runbooks/', '')}](../${runbook})`,
  ])
  return table(['name', 'severity', 'condition', 'for', 'runbook'], rows)
}
