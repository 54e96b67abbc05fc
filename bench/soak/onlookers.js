/** Who looks on all the time: a person with The Deck open (its pages and its live stream). */

import { setTimeout as delay } from 'node:timers/promises'
import { ask, token } from './world.js'

const lookEveryMs = 10_000
const reconnectMs = 1_000
const pages = ['/deck', '/api/v1/summary', '/api/v1/provisions', '/api/v1/outbox', '/api/v1/jobs']

export function startOnlookers({ serve }) {
  const stopping = new globalThis.AbortController()
  const counts = { streams: 0, streamedBytes: 0, answers: {} }
  const work = [
    watchStream(serve.address, counts, stopping.signal),
    openPages(serve.address, counts, stopping.signal),
  ]
  return {
    counts,
    async stop() {
      stopping.abort()
      await Promise.all(work)
    },
  }
}

async function watchStream(address, counts, signal) {
  while (!signal.aborted) {
    try {
      const headers = { authorization: `Bearer ${token}` }
      const { body } = await globalThis.fetch(`${address}/api/v1/events`, { headers, signal })
      counts.streams += 1
      for await (const part of body) counts.streamedBytes += part.length
    } catch {
      // It ended with an outage; a browser connects again too.
    }
    await delay(reconnectMs, undefined, { signal }).catch(() => undefined)
  }
}

async function openPages(address, counts, signal) {
  while (!signal.aborted) {
    for (const page of pages) {
      const answer = await ask(address, 'GET', page)
      counts.answers[answer] = (counts.answers[answer] ?? 0) + 1
    }
    await delay(lookEveryMs, undefined, { signal }).catch(() => undefined)
  }
}
