/** The pages that the navigation leads to, in its order. */

export const sections = [
  { name: 'overview', href: '/deck', text: 'Overview' },
  { name: 'provisions', href: '/deck/provisions', text: 'Provisions' },
  { name: 'outbox', href: '/deck/outbox', text: 'Outbox' },
  { name: 'intake', href: '/deck/intake', text: 'Intake' },
  { name: 'jobs', href: '/deck/jobs', text: 'Jobs' },
  { name: 'queues', href: '/deck/queues', text: 'Queues' },
  { name: 'runs', href: '/deck/runs', text: 'Runs' },
  { name: 'audit', href: '/deck/audit', text: 'Audit' },
  { name: 'settings', href: '/deck/settings', text: 'Settings' },
] as const

export type Section = (typeof sections)[number]['name']
