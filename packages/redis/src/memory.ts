/**
 * How the memory of a Redis (`maxmemory`) is divided. One Redis has the replica, the job queues, the newest groups and,
 * where members order together, the log. Redis refuses all that adds at `maxmemory`, also ingest: a replica would stall.
 * So the log refuses entries before. What lies above is the reserve: of archivals, renewals and confirmations, and then of
 * checkpoints, jobs and trimming, by which the space is freed.
 */

/** The log accepts no entry that adds to the state from this share on. */
export const FULL_SHARE = 0.9
/** A full log accepts them again below this share: it does not change its state with each entry. */
export const FREE_SHARE = 0.88
/** From this share on, the log accepts no entry at all: only checkpoints, without which reads become stale. */
export const EXHAUSTED_SHARE = 0.97
/** Operators are warned from this share on. Alerts use it, too (`deploy/prometheus/alerts.yml`). */
export const WARNING_SHARE = 0.8
/** Of the newest groups that a follower keeps, at most. */
export const RECENT_GROUPS_SHARE = 1 / 8
