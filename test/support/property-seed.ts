/** Loaded before each test file: fast-check's properties start from one seed; a failure reports it too. */

import fc from 'fast-check'
import { seedOf } from './seed.js'

fc.configureGlobal({ seed: seedOf('PROPERTY_SEED') })
