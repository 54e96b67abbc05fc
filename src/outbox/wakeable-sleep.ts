/** A pause that can be ended early; a wake that comes between two pauses ends the next one. */

import { longestTimerMs } from '../timers.js'

export interface WakeableSleep {
  sleep(ms: number): Promise<void>
  wake(): void
}

export function createWakeableSleep(): WakeableSleep {
  let end: (() => void) | undefined
  let woken = false
  return {
    async sleep(ms) {
      if (woken || ms <= 0) {
        woken = false
        return
      }
      let timer: NodeJS.Timeout | undefined
      await new Promise<void>((resolve) => {
        end = resolve
        timer = setTimeout(resolve, Math.min(ms, longestTimerMs))
      })
      clearTimeout(timer)
      end = undefined
      woken = false
    },
    wake() {
      woken = true
      end?.()
    },
  }
}
