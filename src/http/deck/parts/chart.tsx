/**
 * Columns over time, stacked: drawn here, so that they are there without script, coloured by the
 * stylesheet, and with a table of the same figures for who can't see them.
 */

import { scaleLinear } from 'd3-scale'
import { stack } from 'd3-shape'
import { countText } from './text.js'

export interface ChartSeries {
  readonly name: string
  readonly tone: 'good' | 'warn' | 'bad' | 'accent'
  /** One for each point in time. */
  readonly values: readonly number[]
}

export interface ChartProps {
  readonly title: string
  /** Of the points, seconds since 1970, oldest first. */
  readonly at: readonly number[]
  readonly series: readonly ChartSeries[]
}

/** Of the drawing, which is stretched to the room that there is; a column is so wide. */
const height = 100
const column = 10
const gap = 2

export function Chart({ title, at, series }: ChartProps): JSX.Element {
  const width = at.length * column
  const points = at.map((_, index) => index)
  const layers = stack<unknown, number, ChartSeries>()
    .keys(series)
    .value((index, { values }) => values[index] ?? 0)(points)
  const highest = Math.max(1, ...layers.flatMap((layer) => layer.map(([, top]) => top)))
  const y = scaleLinear([0, highest], [height, 0]).nice(2)
  const [, top = highest] = y.domain()
  const totals = series.map(({ name, values }) => `${name} ${countText(sum(values))}`)
  return (
    <figure class="chart">
      <figcaption>
        <h3 safe>{title}</h3>
        <ul class="legend">
          {series.map(({ name, tone, values }) => (
            <li class={`of-${tone}`}>
              <span safe>{name}</span> <strong safe>{countText(sum(values))}</strong>
            </li>
          ))}
        </ul>
      </figcaption>
      <div class="plot">
        <span class="plot-top" safe>
          {countText(top)}
        </span>
        <svg
          viewBox={`0 0 ${width} ${height}`}
          preserveAspectRatio="none"
          role="img"
          aria-label={`${title}: ${totals.join(', ')}`}
        >
          <path class="grid" d={`M0 ${y(top / 2)}H${width}M0 0H${width}`} />
          {layers.map((layer) => (
            <path
              class={`of-${layer.key.tone}`}
              d={columnsOf(
                layer.map(([from, to]) => [from, to]),
                y,
              )}
            />
          ))}
          <path class="base" d={`M0 ${height}H${width}`} />
        </svg>
        <span class="plot-from" safe>
          {clock(at[0])}
        </span>
        <span class="plot-to">now</span>
      </div>
      <details>
        <summary>As a table</summary>
        <ChartTable {...{ title, at, series }} />
      </details>
    </figure>
  )
}

/** One path for a whole layer: a page has some thousand columns. */
function columnsOf(layer: readonly (readonly [number, number])[], y: (value: number) => number) {
  return layer
    .map(([from, to], index) =>
      to > from
        ? `M${index * column + gap / 2} ${round(y(from))}h${column - gap}V${round(y(to))}h${gap - column}z`
        : '',
    )
    .join('')
}

/** Only the times at which there was something. */
function ChartTable({ title, at, series }: ChartProps): JSX.Element {
  const rows = at
    .map((time, index) => ({ time, values: series.map(({ values }) => values[index] ?? 0) }))
    .filter(({ values }) => values.some((value) => value > 0))
  if (rows.length === 0) return <p class="hint">Nothing in this time.</p>
  return (
    <table class="figures">
      <caption class="unseen" safe>
        {title}
      </caption>
      <thead>
        <tr>
          <th scope="col">From</th>
          {series.map(({ name }) => (
            <th scope="col" safe>
              {name}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map(({ time, values }) => (
          <tr>
            <th scope="row" safe>
              {clock(time)}
            </th>
            {values.map((value) => (
              <td safe>{countText(value)}</td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  )
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0)
}

function round(value: number): number {
  return Math.round(value * 100) / 100
}

/** `03:04:05`, UTC as all times here. */
function clock(seconds = 0): string {
  return new Date(seconds * 1_000).toISOString().slice(11, 19)
}
