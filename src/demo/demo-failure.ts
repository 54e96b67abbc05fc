/** The demo can't go on, for a reason that its user should read; not a fault of the demo's own code. */

export class DemoFailure extends Error {
  override readonly name = 'DemoFailure'
}
