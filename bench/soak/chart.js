/** The soak as a picture: lines over time, one panel above the other, and bars where a fault was under way. */

import { scaleLinear, scaleLog } from 'd3-scale'
import { line } from 'd3-shape'

const width = 960
const panelHeight = 130
const margin = { left: 56, right: 170, top: 26, gap: 30 }

const panels = [
  {
    title: 'memory, MB',
    lines: [
      ['resident (RSS)', 'rssMb'],
      ['heap', 'heapTotalMb'],
      ['heap in use', 'heapUsedMb'],
    ],
  },
  {
    title: 'open at once',
    lines: [
      ['file descriptors', 'descriptors'],
      ['handles', 'handles'],
      ['PostgreSQL sessions', 'sessions'],
    ],
  },
  {
    title: 'event to acknowledgement, ms',
    of: 'minutes',
    log: true,
    lines: [
      ['p99', 'p99Ms'],
      ['p50', 'p50Ms'],
    ],
  },
  { title: 'oldest due row, s', lines: [['due', 'dueAgeSeconds']] },
  {
    title: 'event-loop delay, ms',
    log: true,
    lines: [
      ['longest', 'loopMaxMs'],
      ['p99', 'loopP99Ms'],
    ],
  },
  { title: 'CPU of serve, %', lines: [['CPU', 'cpuPercent']] },
  { title: 'load of the machine', lines: [['load', 'machineLoad']] },
]

export function drawSoak({ seconds, samples, minutes, inflicted }) {
  const x = scaleLinear([0, seconds / 60], [margin.left, width - margin.right])
  const series = {
    samples: samples.map((sample) => ({ ...sample, x: x(sample.at / 60) })),
    minutes: minutes.map((minute) => ({ ...minute, x: x(minute.minute - 0.5) })),
  }
  const bottom = margin.top + panels.length * (panelHeight + margin.gap) - margin.gap
  const height = bottom + 60
  const kinds = [...new Set(inflicted.map(({ name }) => name))]
  const bars = inflicted.map(({ name, from, to }) => {
    const [left, right] = [x(from / 60), x(Math.min(seconds, to) / 60)]
    return (
      `<rect class="fault" x="${n(left)}" y="${margin.top}" width="${n(Math.max(2, right - left))}" ` +
      `height="${n(bottom - margin.top)}"/>` +
      `<text class="note" x="${n(left)}" y="${margin.top - 6}">${kinds.indexOf(name) + 1}</text>`
    )
  })
  const ticks = x
    .ticks(Math.min(12, Math.ceil(seconds / 60)))
    .map(
      (tick) =>
        `<text class="note" text-anchor="middle" x="${n(x(tick))}" y="${bottom + 16}">${tick} min</text>`,
    )
  const legend = kinds.map((name, order) => `${order + 1} ${name}`).join(' · ')
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" role="img" ` +
      `aria-label="Memory, handles and latency of serve during the soak">`,
    `<style>${style}</style>`,
    `<rect class="paper" width="${width}" height="${height}"/>`,
    ...bars,
    ...panels.flatMap((panel, order) =>
      drawPanel(
        panel,
        series[panel.of ?? 'samples'],
        margin.top + order * (panelHeight + margin.gap),
      ),
    ),
    ...ticks,
    `<text class="note" x="${margin.left}" y="${bottom + 42}">faults: ${legend}</text>`,
    '</svg>',
    '',
  ].join('\n')
}

function drawPanel({ title, lines, log = false }, points, top) {
  const isThere = (value) => Number.isFinite(value) && (!log || value > 0)
  const values = lines.flatMap(([, name]) => points.map((point) => point[name])).filter(isThere)
  const bottom = top + panelHeight
  const range = [bottom, top + 14]
  const y = log
    ? scaleLog([Math.min(...values), Math.max(...values)], range).nice()
    : scaleLinear([0, Math.max(1, ...values)], range).nice()
  const ticks = (log ? y.ticks(3).filter(isPowerOfTen) : y.ticks(4)).map(
    (tick) =>
      `<path class="grid" d="M${margin.left} ${n(y(tick))}H${width - margin.right}"/>` +
      `<text class="note" text-anchor="end" x="${margin.left - 6}" y="${n(y(tick) + 4)}">${tick}</text>`,
  )
  const drawn = lines.map(([label, name], order) => {
    const path = line(
      (point) => point.x,
      (point) => y(point[name]),
    ).defined((point) => isThere(point[name]))(points)
    const labelTop = top + 26 + order * 17
    return (
      `<path class="line line${order}" d="${path?.replace(/\d+\.\d+/g, (text) => n(Number(text)))}"/>` +
      `<path class="line line${order}" d="M${width - margin.right + 8} ${labelTop - 4}h14"/>` +
      `<text x="${width - margin.right + 26}" y="${labelTop}">${label}</text>`
    )
  })
  return [
    `<text class="title" x="${margin.left}" y="${top + 6}">${title}</text>`,
    ...ticks,
    ...drawn,
  ]
}

const isPowerOfTen = (value) => Number.isInteger(Number(Math.log10(value).toFixed(6)))
const n = (value) => String(Math.round(value * 10) / 10)

const style = `
text { font: 12px system-ui, sans-serif; fill: #1f2328 }
.title { font-weight: 600 }
.note { font-size: 10px; fill: #59636e }
.paper { fill: #ffffff }
.fault { fill: #d1242f; opacity: .14 }
.grid { stroke: #d1d9e0; stroke-width: .7 }
.line { fill: none; stroke-width: 1.4 }
.line0 { stroke: #0969da } .line1 { stroke: #bc4c00 } .line2 { stroke: #1a7f37 }
@media (prefers-color-scheme: dark) {
  text { fill: #f0f6fc } .note { fill: #9198a1 } .paper { fill: #0d1117 } .grid { stroke: #3d444d }
  .fault { fill: #f85149; opacity: .25 }
  .line0 { stroke: #4493f8 } .line1 { stroke: #f0883e } .line2 { stroke: #3fb950 }
}`
