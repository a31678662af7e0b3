/** The options of a control plane, apart from its code, so that a command loads none of that. */

import type { OrderingDriver } from '@quorumscan/operator'
import type { GenesisOverrides } from '@quorumscan/operator/ceremony'

/** Room for years of checkpoints, without which reads become stale. */
export const DISK_FREE_MIB_MIN = 256
/** A node that was down for less than a day continues from its own state. */
export const LOG_KEEP_SECONDS = 86_400
/** High, because a local cluster is for tests and load (D-33). */
export const LOCAL_RATE_LIMIT = 100_000

/** The cluster in the directory, for as long as the command that starts it runs. */
const DEFAULTS = {
  nodeCount: null as number | null,
  ordering: null as OrderingDriver | null,
  basePort: null as number | null,
  /** Units per second and client (D-33). */
  rateLimit: LOCAL_RATE_LIMIT,
  /** Free disk space in MiB, below which nothing is written to the log. */
  diskFreeMibMin: DISK_FREE_MIB_MIN,
  /** Memory of all Redis servers together, in MiB; null: half of the machine's. */
  redisMemoryMib: null as number | null,
  /** How much of the log stays before the newest snapshot of a quorum. */
  logKeepSeconds: LOG_KEEP_SECONDS,
  /** Whether a validator that lost its users, which no log holds, starts without users. */
  isLossAccepted: false,
  /** Only for a new cluster. */
  overrides: null as GenesisOverrides | null,
  /** Whether to rebuild every replica from the log. */
  wipe: false,
  /** Whether to measure a lookup per second. */
  probe: false,
  /** Whether to start no process, for work on a stopped cluster. */
  isIdle: false,
  /** Whether the cluster outlives the command that started it. */
  detach: false,
}
type Needed = { readonly dataDir: string; readonly redisServer: string }

/** Crosses a process boundary as JSON. */
export type ControlOptions = Readonly<typeof DEFAULTS> & Needed

/** Adds the defaults. */
export function controlOptions(asked: Needed & Partial<ControlOptions>): ControlOptions {
  return { ...DEFAULTS, ...asked }
}
