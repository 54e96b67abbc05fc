/** A message of the intake's topic, free of any Kafka library. */

export interface IntakeMessage {
  readonly topic: string
  readonly partition: number
  /** A 64-bit number, which JavaScript's own can't hold. */
  readonly offset: string
  readonly key: Buffer | null
  readonly value: Buffer | null
  /** The `correlation-id` header, as it came. */
  readonly correlationId: string | undefined
}
