/** How the members order together, as one of them sees it. Pure. */

import type { OrderingReport } from '@quorumscan/runtime'
import type { CometbftOrdering } from '@quorumscan/verifier'
import { nodeIdOf } from './engine-files.ts'
import type { LastCommit } from './last-commit.ts'

/** By the names of the genesis: whoever is no member is not spoken of. */
export function reportOrdering(seen: {
  readonly ordering: CometbftOrdering
  readonly height: number
  readonly lastCommit: LastCommit | null
  /** Ids of engines. */
  readonly connected: readonly string[]
}): OrderingReport {
  const { ordering, height, lastCommit, connected } = seen
  const namesOf = (isMeant: (validator: CometbftOrdering['validators'][number]) => boolean) =>
    ordering.validators.filter(isMeant).map(({ name }) => name)
  return {
    height,
    round: lastCommit?.round ?? null,
    connected: namesOf(({ nodeId }) => connected.includes(nodeId)),
    // An engine's id and the address of a key are made of their keys in the same way.
    absent: namesOf(({ key }) => lastCommit?.absent.includes(nodeIdOf(key)) === true),
  }
}
