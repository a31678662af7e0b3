/** What a control plane is asked for: apart from what it runs, so that a command that only asks loads nothing of it. */

import type { OrderingDriver } from '@quorumscan/operator'
import type { GenesisOverrides } from '@quorumscan/operator/ceremony'

/** Room for checkpoints for years, without which reads grow stale. */
export const DISK_FREE_MIB_MIN = 256
/** A node that was away for less than a day goes on where it was. */
export const LOG_KEEP_SECONDS = 86_400
/** D-33: a local cluster is there to be hammered. */
export const LOCAL_RATE_LIMIT = 100_000

/** What `up` asks for; crosses a process boundary as JSON. */
export type ControlOptions = {
  readonly dataDir: string
  readonly nodeCount: number | null
  readonly ordering: OrderingDriver | null
  readonly basePort: number | null
  readonly rateLimit: number
  /** What stays free on the disk, in MiB: below it nothing is written to the log. */
  readonly diskFreeMibMin: number
  /** What of the log stays before the newest snapshot that a quorum has. */
  readonly logKeepSeconds: number
  /** Whether a validator that lost its users, which no log holds, begins anew. */
  readonly isLossAccepted: boolean
  readonly overrides: GenesisOverrides | null
  readonly redisServer: string
  /** Whether to rebuild every replica from the log. */
  readonly wipe: boolean
  /** Whether to measure a lookup a second all the time. */
  readonly probe: boolean
  /** Whether to start nothing, for work on a cluster that is stopped. */
  readonly isIdle: boolean
  /** Whether the cluster outlives the command that started it. */
  readonly detach: boolean
}

/** What is not asked for: the cluster that the directory holds, for as long as the command that starts it runs. */
export function controlOptions(
  asked: Pick<ControlOptions, 'dataDir' | 'redisServer'> & Partial<ControlOptions>,
): ControlOptions {
  return {
    nodeCount: null,
    ordering: null,
    basePort: null,
    rateLimit: LOCAL_RATE_LIMIT,
    diskFreeMibMin: DISK_FREE_MIB_MIN,
    logKeepSeconds: LOG_KEEP_SECONDS,
    isLossAccepted: false,
    overrides: null,
    wipe: false,
    probe: false,
    isIdle: false,
    detach: false,
    ...asked,
  }
}
