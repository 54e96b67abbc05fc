/** What moves on a page while it is looked at: nothing ought to. */

import type { Page } from 'playwright-core'

/** From now on; each with what has moved. */
export async function watchShifts(page: Page): Promise<void> {
  await page.evaluate(`
    window.shifts = []
    window.shiftObserver = new PerformanceObserver((list) => {
      for (const { value, sources } of list.getEntries()) {
        const moved = sources.map(({ node }) => node?.outerHTML ?? node?.textContent)
        window.shifts.push({ value, moved })
      }
    })
    window.shiftObserver.observe({ type: 'layout-shift' })`)
}

/** Those since `watchShifts`, up to what was painted by now. */
export function shifts(page: Page): Promise<unknown> {
  return page.evaluate(`new Promise((resolve) => requestAnimationFrame(() => setTimeout(() => {
    for (const { value, sources } of window.shiftObserver.takeRecords()) {
      window.shifts.push({ value, moved: sources.map(({ node }) => node?.outerHTML ?? node?.textContent) })
    }
    resolve(window.shifts)
  })))`)
}
