/** What a chaos run needs of a cluster. */

import type { SignedStates } from '@quorumscan/operator'
import type { FaultSelection } from '../faults/fault-control.ts'
import type { Fault, FaultSpec } from '../faults/fault-spec.ts'
import type { ClusterStatus } from '../status.ts'
import type { LogLine } from './history.ts'

export type ChaosTarget = {
  readonly validatorUrl: string
  token(user: string): Promise<string>
  status(): ClusterStatus
  inject(spec: FaultSpec, durationMs: number | null): Promise<Fault>
  heal(selection: FaultSelection): Promise<unknown>
  /** Deletes a replica, or all that a member has on its disk. Refused where that would lose what nobody else has. */
  wipe(wiped: { readonly node: string; readonly disk: boolean }): Promise<void>
  /** The whole log, up to an offset at least. @throws {Error} If it does not come in time. */
  readLog(throughOffset: number): Promise<readonly LogLine[]>
  /** What the nodes signed of the state behind an offset. */
  signedStates(after: number): Promise<SignedStates>
  /** Pairs of statements by which nodes contradict themselves, as the scan proxy keeps them. @throws {Error} If it says nothing. */
  evidence(): Promise<readonly { node: string; pairs: number }[]>
}
