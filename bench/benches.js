/** All benches by name. The long ones run only when they are named. */

import { relay } from './relay.js'

export const benches = { relay }
