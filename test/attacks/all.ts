/** All attacks, in the order in which they are run. */
import type { Attack } from './attack.ts'
import { clockForward } from './clock-forward.ts'
import { clockSlow } from './clock-slow.ts'
import { dearEntries } from './dear-entries.ts'
import { restlessSuperValidator } from './restless-super-validator.ts'
import { tooLargeBodies } from './too-large-bodies.ts'

export const ATTACKS: readonly Attack[] = [
  tooLargeBodies,
  dearEntries,
  restlessSuperValidator,
  clockForward,
  clockSlow,
]
