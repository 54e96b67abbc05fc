/** What operators did, and the way to take it back. */

import type { AuditLine } from '../../../operations/audit-trail.js'
import { Table, type Column } from './table.js'
import { Count, Id, Line, Nothing, Time } from './text.js'

/** Where a line is taken back; `back` is the page to return to. */
export function undoHref(auditId: string, back: string): string {
  return `/deck/audit/${auditId}/undo?${new URLSearchParams({ back }).toString()}`
}

export function AuditTable(props: {
  readonly items: readonly AuditLine[]
  readonly canChange: boolean
  readonly back: string
  /** All are of one deal, whose page it is. */
  readonly isOfDeal?: boolean
}): JSX.Element {
  const all = columns(props.canChange, props.back)
  return (
    <Table
      caption="What operators did, newest first"
      columns={props.isOfDeal === true ? all.filter(({ head }) => head !== 'Deal') : all}
      items={props.items}
      empty="Nobody has done anything here."
    />
  )
}

function columns(canChange: boolean, back: string): readonly Column<AuditLine>[] {
  return [
    { head: 'At', kind: 'time', cell: ({ at }) => <Time at={at} /> },
    {
      head: 'Undo',
      kind: 'word',
      cell: (line) => <Undo {...{ line, canChange, back }} />,
    },
    { head: 'By', kind: 'word', cell: ({ actor }) => <Line text={actor} /> },
    { head: 'Action', kind: 'word', cell: ({ action }) => <Line text={action} /> },
    {
      head: 'Rows',
      kind: 'number',
      isMinor: true,
      cell: (line) => <Count count={line.affected} />,
    },
    { head: 'Why', kind: 'text', isMinor: true, cell: ({ reason }) => <Line text={reason} /> },
    {
      head: 'Chosen by',
      kind: 'short',
      isMinor: true,
      cell: (line) => <Line text={line.filter} />,
    },
    { head: 'Deal', kind: 'short', isMinor: true, cell: ({ dealId }) => <Deal dealId={dealId} /> },
  ]
}

function Undo(props: {
  readonly line: AuditLine
  readonly canChange: boolean
  readonly back: string
}): JSX.Element {
  const { line, canChange, back } = props
  if (line.undoneBy !== null) return <span class="hint">taken back</span>
  if (!line.canBeUndone || !canChange) return <Nothing />
  return (
    <a href={undoHref(line.id, back)} aria-label={`Take back line ${line.id}`}>
      Take back
    </a>
  )
}

function Deal({ dealId }: { readonly dealId: string | null }): JSX.Element {
  return dealId === null ? <Nothing /> : <Id id={dealId} href={`/deck/provisions/${dealId}`} />
}
