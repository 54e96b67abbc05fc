/** The options in force, without secrets. */

import type { Setting } from '../../../config/config.js'
import type { DeckContext, DeckServer } from '../context.js'
import { Badge } from '../parts/badge.js'
import { Table, type Column } from '../parts/table.js'
import { Line } from '../parts/text.js'
import { sendPage } from '../send-page.js'

const columns: readonly Column<Setting>[] = [
  { head: 'Option', kind: 'name', cell: ({ name }) => <code safe>{name}</code> },
  { head: 'In force', kind: 'value', cell: ({ value }) => <Line text={value} /> },
  {
    head: 'From',
    kind: 'state',
    cell: ({ isDefault, value }) =>
      isDefault ? (
        <Badge tone="plain" text={value === null ? 'unset' : 'default'} />
      ) : (
        <Badge tone="good" text="set" />
      ),
  },
  {
    head: 'What it does',
    kind: 'prose',
    isMinor: true,
    cell: ({ about }) => <Line text={about} />,
  },
]

export function addSettingsPage(app: DeckServer, { config }: DeckContext): void {
  app.get('/settings', (request, reply) =>
    sendPage(
      request,
      reply,
      { title: 'Settings', section: 'settings' },
      <>
        <h1>Settings in force</h1>
        <p class="lead">
          Read once, when the service started. Change them in its environment and start it anew.
        </p>
        <Table
          caption="Options in force"
          columns={columns}
          items={config.settings}
          empty="There are no options."
        />
      </>,
    ),
  )
}
