/** What a control plane is asked for: apart from what it runs, so that a command that only asks loads nothing of it. */

import type { OrderingDriver } from '@quorumscan/operator'
import type { GenesisOverrides } from '@quorumscan/operator/ceremony'

/** Room for checkpoints for years, without which reads grow stale. */
export const DISK_FREE_MIB_MIN = 256
/** A node that was away for less than a day goes on where it was. */
export const LOG_KEEP_SECONDS = 86_400
/** D-33: a local cluster is there to be hammered. */
export const LOCAL_RATE_LIMIT = 100_000

/** What is not asked for: the cluster that the directory holds, for as long as the command that starts it runs. */
const DEFAULTS = {
  nodeCount: null as number | null,
  ordering: null as OrderingDriver | null,
  basePort: null as number | null,
  /** Units per second and client (D-33). */
  rateLimit: LOCAL_RATE_LIMIT,
  /** What stays free on the disk, in MiB: below it nothing is written to the log. */
  diskFreeMibMin: DISK_FREE_MIB_MIN,
  /** What of the log stays before the newest snapshot that a quorum has. */
  logKeepSeconds: LOG_KEEP_SECONDS,
  /** Whether a validator that lost its users, which no log holds, begins without any. */
  isLossAccepted: false,
  /** Only for a new cluster. */
  overrides: null as GenesisOverrides | null,
  /** Whether to rebuild every replica from the log. */
  wipe: false,
  /** Whether to measure a lookup a second all the time. */
  probe: false,
  /** Whether to start nothing, for work on a cluster that is stopped. */
  isIdle: false,
  /** Whether the cluster outlives the command that started it. */
  detach: false,
}
type Needed = { readonly dataDir: string; readonly redisServer: string }

/** What `up` asks for; crosses a process boundary as JSON. */
export type ControlOptions = Readonly<typeof DEFAULTS> & Needed

export function controlOptions(asked: Needed & Partial<ControlOptions>): ControlOptions {
  return { ...DEFAULTS, ...asked }
}
