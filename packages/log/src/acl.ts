/**
 * Permissions in the log's Redis. The server has `user default off`. Its configuration adds `on` and the
 * password's digest to these rules.
 */

/** The stream that holds the log: one element a group, its id `<last offset>-0`. */
export const LOG_STREAM_KEY = 'log'

/** The end from which the first group continues, if the log was trimmed (`trim.ts`); absent: the genesis. */
export const LOG_START_KEY = 'log-start'

/** All that a log consists of. */
export const LOG_KEYS = [LOG_STREAM_KEY, LOG_START_KEY] as const

/** The one ACL user, the synchronizer's. Followers read the log from the synchronizer, and have no access to its Redis. */
export const LOG_USER = 'writer'

/** The ACL rules of the user. The writer needs CONFIG GET to refuse a Redis whose writes are not durable, and INFO for metrics. */
export const LOG_RULES = `resetchannels ${LOG_KEYS.map((key) => `~${key}`).join(' ')} -@all +eval +xadd +xrange +xrevrange +xtrim +set +get +config|get +info +ping`
