/** Messages as Kafka's console consumer prints them: tabs between the parts, commas between headers. */

import type { TopicMessage } from '../support/kafka.js'

/** The contract's headers hold neither tabs nor commas, and its values no tabs. */
export function parseMessages(printed: string): TopicMessage[] {
  return printed
    .split('\n')
    .filter((line) => line.includes('\t'))
    .map((line) => {
      const [time = '', partition = '', offset = '', headers = '', key = '', value = ''] =
        line.split('\t')
      return {
        partition: Number(afterColon(partition)),
        offset: afterColon(offset),
        key,
        value: Buffer.from(value),
        headers: Object.fromEntries(headers.split(',').map(nameAndValue)),
        timestamp: afterColon(time),
      }
    })
    .sort((a, b) => a.partition - b.partition || Number(a.offset) - Number(b.offset))
}

function afterColon(text: string): string {
  return nameAndValue(text)[1]
}

function nameAndValue(text: string): [string, string] {
  const colon = text.indexOf(':')
  return [text.slice(0, colon), text.slice(colon + 1)]
}
