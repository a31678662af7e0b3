/**
 * Every Redis key of a replica, with its type. All follow from genesis and the log, so a replica may be
 * wiped at any time. No key has a TTL. The keys share a hash tag and a prefix, which separate them from the
 * queues and users in the same Redis.
 *
 * Contract ids, index keys and parties are interned (see `intern.ts`): members are bytes, not texts. Contracts
 * and their index are spread over many small keys, which Redis packs: a member costs 30 bytes then, and 150 in
 * one large key.
 */
export const KEYS = {
  /**
   * hash: name -> its versions, packed, newest first (`versions.ts`). The empty field is the head
   * (`head.ts`): one HMGET reads names and head atomically.
   */
  names: '{replica}:names',
  /** sorted set, score 0: every name of `names`, for pages in byte order */
  lex: '{replica}:lex',
  /** sorted set, score 0: party tag ‖ name, for each version in `names` */
  parties: '{replica}:parties',
  /** hash: entity of a template that lookups read (`plan-versions.ts`) -> versions whose bodies are contracts */
  documents: '{replica}:documents',
  /** list: versions that ended, oldest first: what the clean-up takes up (`versions.ts`) */
  ended: '{replica}:ended',
  /** list: record time, count of ended versions and history hash of each offset from horizon to head */
  at: '{replica}:at',
  /** sorted set, score 0: rows of the activity history by event id (`activity-member.ts`) */
  activities: '{replica}:activities',
  /** sorted set, score 0: notices by event id, as `activities`; a participant's replica has them */
  notices: '{replica}:notices',
  /** sorted set, score 0: party tag ‖ event id, for each party that a row or a notice belongs to */
  activityParties: '{replica}:activity-parties',
  /** sorted set, score record time in µs: each offset with rows or notices, as in event ids */
  activityTimes: '{replica}:activity-times',
  /** sorted set, score 0: offset (8 bytes) ‖ JSON of a completion of the local participant (`completions.ts`) */
  completions: '{replica}:completions',
  /** hash: change id -> newest acceptance */
  changes: '{replica}:changes',
  /** sorted set, score record time in µs after which it may go: change id */
  changesUntil: '{replica}:changes-until',
  /** sorted set, score `notAfter` in µs: hash of entry bytes */
  seen: '{replica}:seen',
  /** sorted set, score 0: allocated party identifiers, for pages in byte order */
  hosted: '{replica}:hosted',
  /** stream: id `<offset>-0`, field `u`: the update of an offset, packed (`update-codec.ts`) */
  updates: '{replica}:updates',
  /** sorted set, score 0: tag of an update's id, or of that of a contract that it archived ‖ its offset in digits */
  updateTags: '{replica}:update-tags',
  /**
   * hash: through -> offset up to which `updates` is complete; pruned -> offset after which it begins; archivals -> offset
   * up to which their index is complete
   */
  history: '{replica}:history',
} as const

/** The field of `names` that holds the head. No name is empty (D-17). */
export const HEAD_FIELD = ''

/** string: 256 hashes of the activity tree, from left to right; the last tile has fewer (`activity-tiles.ts`) */
export function activityTileKey(level: number, tile: number): string {
  return `{replica}:activity-tree:${level}:${tile}`
}

/** hash: rest of a contract id -> active contract, of all whose ids begin with the bucket */
export function contractsKey(bucket: string): string {
  return CONTRACTS_PREFIX + bucket
}
export const CONTRACTS_PREFIX = '{replica}:contracts:'

/** sorted set, score 0: rest of an index tag ‖ order ‖ contract id, of all whose tags begin with the bucket (`order.ts`) */
export function indexKey(bucket: string): string {
  return `{replica}:index:${bucket}`
}

/** sorted set, score 0: archivals of the updates in `updates`, of all whose tags begin with the bucket (`archivals.ts`) */
export function archivalsKey(bucket: string): string {
  return `{replica}:archivals:${bucket}`
}

/** hash: rest of the tag of a list by amount -> its total, of all whose tags begin with the bucket (`totals.ts`) */
export function totalsKey(bucket: string): string {
  return `{replica}:totals:${bucket}`
}

/** sorted set, score record time in µs: contract id, in full, for which the job is due */
export function dueKey(job: string): string {
  return `{replica}:due:${job}`
}

/**
 * What the replica's Redis is to be configured with: buckets stay packed up to some 500 000 names. With other
 * values everything works, and takes twice the memory.
 */
export const REPLICA_REDIS_OPTIONS: Readonly<Record<string, string>> = {
  'hash-max-listpack-entries': '512',
  // A contract of more bytes unpacks its bucket: usual ones have 150.
  'hash-max-listpack-value': '2048',
  'zset-max-listpack-entries': '1024',
  'zset-max-listpack-value': '64',
}
