/** A part of a page that a run writes: the last measured figures stay where people read of them. */

import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { projectRoot } from './documents.js'

/**
 * Puts the lines between the page's marks `<!-- name -->` and `<!-- /name -->`.
 *
 * @param page path from the project's root
 * @throws Error where the page has lost its marks
 */
export async function writePart(
  page: string,
  name: string,
  lines: readonly string[],
): Promise<void> {
  const file = join(projectRoot, page)
  const [begin, end] = [`<!-- ${name} -->\n`, `<!-- /${name} -->`]
  const text = await readFile(file, 'utf8')
  const [from, to] = [text.indexOf(begin), text.indexOf(end)]
  if (from < 0 || to < from) throw new Error(`${page} has lost its marks of ${name}`)
  await writeFile(file, `${text.slice(0, from)}${begin}${lines.join('\n')}\n${text.slice(to)}`)
}
