/**
 * Every Redis key of this package. They live apart from the replica's keys, because a wiped replica is
 * rebuilt from the log and these are in no log (Rule 3). No key has a TTL.
 */
export const KEYS = {
  /** hash: user id -> canonical JSON of the user with its rights */
  records: '{users}:records',
  /** sorted set, score 0: user ids, for pages in byte order */
  ids: '{users}:ids',
  /** hash: party -> user for whom it was allocated, '' for no particular one */
  partyOwners: '{users}:party-owners',
  /** hash: party -> JSON of its annotations */
  partyAnnotations: '{users}:party-annotations',
  /** hash: entry hash -> JSON of a submission whose outcome is not known yet */
  pending: '{users}:pending',
  /** hash: change id -> entry hash of its pending submission */
  inFlight: '{users}:in-flight',
  /** sorted set, score 0: offset (8 bytes) ‖ JSON of the completion of a submission that expired */
  expired: '{users}:expired',
  /** hash: contract id of a SubscriptionRequest -> party that wants its subscription renewed */
  autoRenewals: '{users}:auto-renewals',
  /** hash: genesis hash -> participant key of the users; missing: the users are lost */
  identity: '{users}:identity',
  /** hash: genesis hash -> highest offset that the proxy's reader verified */
  floors: '{users}:floors',
  /** hash: genesis hash -> JSON of the last known address records */
  addresses: '{users}:addresses',
  /** hash: genesis hash -> JSON of the evidence that the proxy came across */
  evidence: '{users}:evidence',
} as const
