/** Reads what a filter bar asks for: a faulty filter is told beside the bar, above an empty list. */

import type { Page } from '../../operations/page.js'
import { inputFault } from './values.js'

/**
 * @param faultOf what to say beside the bar, or undefined for an error that is not the filter's
 * @throws that error
 */
export async function readPage<Item>(
  read: () => Promise<Page<Item>>,
  faultOf: (error: unknown) => string | undefined = inputFault,
): Promise<{ readonly page: Page<Item>; readonly fault: string | undefined }> {
  try {
    return { page: await read(), fault: undefined }
  } catch (error) {
    const fault = faultOf(error)
    if (fault === undefined) throw error
    return { page: { items: [], nextCursor: null }, fault }
  }
}
