/**
 * Every Redis key of a replica, with its type. All follow from genesis and the log, so a replica may be
 * wiped at any time; none has a TTL. They share one hash tag and a prefix of their own, apart from the
 * queues and users that live in the same Redis.
 *
 * Contract ids, index keys and parties are interned (see `intern.ts`): members are bytes, not texts.
 */
export const KEYS = {
  /**
   * hash: name -> its versions, packed, newest first (`versions.ts`). The empty field is the head
   * (`head.ts`): one HMGET reads names and head at one moment.
   */
  names: '{replica}:names',
  /** sorted set, score 0: every name of `names`, for pages in byte order */
  lex: '{replica}:lex',
  /** sorted set, score 0: party tag ‖ name, for each version in `names` */
  parties: '{replica}:parties',
  /** hash: DsoRules | AnsRules | CoinRules | OpenMiningRound -> versions whose bodies are contracts */
  documents: '{replica}:documents',
  /** list: versions that ended, oldest first: what the clean-up takes up (`ended.ts`) */
  ended: '{replica}:ended',
  /** list: record time, count of ended versions and history hash of each offset from horizon to head */
  at: '{replica}:at',
  /** sorted set, score 0: rows of the activity history by event id (`activity-member.ts`) */
  activities: '{replica}:activities',
  /** sorted set, score 0: party tag ‖ event id, for each party that a row belongs to */
  activityParties: '{replica}:activity-parties',
  /** sorted set, score record time in µs: each offset with rows, as in event ids */
  activityTimes: '{replica}:activity-times',
  /** sorted set, score 0: offset (8 bytes) ‖ JSON of a completion of the own participant (`completions.ts`) */
  completions: '{replica}:completions',
  /** hash: contract id -> active contract */
  contracts: '{replica}:contracts',
  /** sorted set, score 0: index tag ‖ contract id */
  index: '{replica}:index',
  /** sorted set, score record time in µs: contract id ‖ job */
  due: '{replica}:due',
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
  /** sorted set, score 0: first bytes of an update's hash ‖ its offset in digits */
  updateIds: '{replica}:update-ids',
  /** hash: through -> offset up to which `updates` is complete; pruned -> offset after which it begins */
  history: '{replica}:history',
} as const

export type KeyName = keyof typeof KEYS

/** The field of `names` that holds the head. No name is empty (D-17). */
export const HEAD_FIELD = ''

const NAMES = Object.keys(KEYS) as KeyName[]

/** All keys, in the order in which the write script gets them. */
export const KEY_LIST: readonly string[] = NAMES.map((name) => KEYS[name])

/** Position of a key in `KEY_LIST`, counted from 1 as Lua does. */
export function keyNumber(name: KeyName): number {
  return NAMES.indexOf(name) + 1
}
