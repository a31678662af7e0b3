/** All attacks, in the order in which they are run. */
import type { Attack } from './attack.ts'
import { tooLargeBodies } from './too-large-bodies.ts'

export const ATTACKS: readonly Attack[] = [tooLargeBodies]
