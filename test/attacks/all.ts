/** All attacks, in the order in which they are run. */
import type { Attack } from './attack.ts'
import { clockForward } from './clock-forward.ts'
import { clockOff } from './clock-off.ts'
import { costlyAnswers } from './costly-answers.ts'
import { dearEntries } from './dear-entries.ts'
import { dearRequests } from './dear-requests.ts'
import { engineConnectionFlood } from './engine-connection-flood.ts'
import { expiredBundleFlood } from './expired-bundle-flood.ts'
import { failingHandlers } from './failing-handlers.ts'
import { forgedHealthPath } from './forged-health-path.ts'
import { fuzz } from './fuzz.ts'
import { heldPlaces } from './held-places.ts'
import { longPollFlood } from './long-poll-flood.ts'
import { oneByteChunks } from './one-byte-chunks.ts'
import { overload } from './overload.ts'
import { restlessSuperValidator } from './restless-super-validator.ts'
import { awayNodes, slowNodes } from './slow-nodes.ts'
import { staleStatementLoop } from './stale-statement-loop.ts'
import { tooLargeBodies } from './too-large-bodies.ts'
import { websocketFloods } from './websocket-floods.ts'

export const ATTACKS: readonly Attack[] = [
  tooLargeBodies,
  oneByteChunks,
  heldPlaces,
  websocketFloods,
  dearRequests,
  failingHandlers,
  longPollFlood,
  forgedHealthPath,
  overload,
  fuzz,
  dearEntries,
  restlessSuperValidator,
  clockForward,
  clockOff,
  costlyAnswers,
  slowNodes,
  awayNodes,
  staleStatementLoop,
  expiredBundleFlood,
  engineConnectionFlood,
]
