/** The pages that the navigation leads to, in its order. */

export const sections = [
  { name: 'overview', href: '/deck', text: 'Overview' },
  { name: 'provisions', href: '/deck/provisions', text: 'Provisions' },
  { name: 'runs', href: '/deck/runs', text: 'Runs' },
  { name: 'settings', href: '/deck/settings', text: 'Settings' },
] as const

export type Section = (typeof sections)[number]['name']
