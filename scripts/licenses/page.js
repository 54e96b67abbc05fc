/** The page docs/licenses.md: what is shipped, by licence, and how many tools there are beside. */

import { table } from '../reference/markdown.js'
import { readLicenses, readLockFile } from './read-licenses.js'

export function licensesPage() {
  const packages = readLicenses(readLockFile())
  const shipped = packages.filter(({ isTool }) => !isTool)
  const rows = licensesOf(shipped).map((license) => [license, namesOf(shipped, license).join(', ')])
  return `# Licences

Made by \`npm run docs\` from package-lock.json. \`npm run licenses\`, a part of \`npm run check\`, refuses a package
whose licence is not one of those that \`scripts/licenses/read-licenses.js\` names. What is shipped, all that
\`npm ci --omit=dev\` installs:

${table(['licence', 'packages'], rows)}

Tools for building and testing, which are not in the image, are under ${licensesOf(
    packages.filter(({ isTool }) => isTool),
  ).join(', ')}.
`
}

function licensesOf(packages) {
  return [...new Set(packages.map(({ license }) => license))].sort()
}

function namesOf(packages, license) {
  const names = packages.filter((each) => each.license === license).map(({ name }) => name)
  return [...new Set(names)].sort()
}
