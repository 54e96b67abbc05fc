/** All benches by name. The long ones run only when they are named. */

import { bloat } from './bloat.js'
import { cost } from './cost.js'
import { crashGuard } from './crash-guard.js'
import { deck } from './deck.js'
import { drain } from './drain.js'
import { growth } from './growth.js'
import { idle } from './idle.js'
import { jobs } from './jobs.js'
import { provision } from './provision.js'
import { relayLatency } from './relay-latency.js'
import { relay } from './relay.js'

export const benches = {
  provision,
  jobs,
  relay,
  'relay-latency': relayLatency,
  cost,
  growth,
  idle,
  deck,
  'crash-guard': crashGuard,
  drain,
  bloat,
}
