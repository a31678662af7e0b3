/** All attacks, in the order in which they run. */
import type { Attack } from './attack.ts'
import { clockForward } from './clock-forward.ts'
import { clockOff } from './clock-off.ts'
import { connectionExhaustion } from './connection-exhaustion.ts'
import { costlyAnswers } from './costly-answers.ts'
import { costlyLists } from './costly-lists.ts'
import { delayedSubmissions } from './delayed-submissions.ts'
import { dustOffers } from './dust-offers.ts'
import { engineConnectionFlood } from './engine-connection-flood.ts'
import { expensiveRequests } from './expensive-requests.ts'
import { expensiveSubmissions } from './expensive-submissions.ts'
import { expiredBundleFlood } from './expired-bundle-flood.ts'
import { failingHandlers } from './failing-handlers.ts'
import { forgedHealthPath } from './forged-health-path.ts'
import { fuzz } from './fuzz.ts'
import { halfFinished } from './half-finished.ts'
import { longPollFlood } from './long-poll-flood.ts'
import { lyingSources } from './lying-sources.ts'
import { oneByteChunks } from './one-byte-chunks.ts'
import { oneMachine } from './one-machine.ts'
import { overload } from './overload.ts'
import { permanentBytes } from './permanent-bytes.ts'
import { refusedEntries } from './refused-entries.ts'
import { restlessSuperValidator } from './restless-super-validator.ts'
import { shownContent } from './shown-content.ts'
import { silentSeeds } from './silent-seeds.ts'
import { awayNodes, slowNodes } from './slow-nodes.ts'
import { staleStatementLoop } from './stale-statement-loop.ts'
import { takenRights } from './taken-rights.ts'
import { tooLargeBodies } from './too-large-bodies.ts'
import { unreadAnswers } from './unread-answers.ts'
import { websocketFloods } from './websocket-floods.ts'

export const ATTACKS: readonly Attack[] = [
  tooLargeBodies,
  oneByteChunks,
  connectionExhaustion,
  websocketFloods,
  expensiveRequests,
  failingHandlers,
  longPollFlood,
  forgedHealthPath,
  lyingSources,
  shownContent,
  silentSeeds,
  oneMachine,
  takenRights,
  overload,
  fuzz,
  expensiveSubmissions,
  restlessSuperValidator,
  clockForward,
  clockOff,
  costlyAnswers,
  slowNodes,
  awayNodes,
  staleStatementLoop,
  expiredBundleFlood,
  engineConnectionFlood,
  halfFinished,
  delayedSubmissions,
  dustOffers,
  refusedEntries,
  permanentBytes,
  costlyLists,
  unreadAnswers,
]
