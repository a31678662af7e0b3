/**
 * Who may do what in the log's Redis. The server has `user default off`; whoever writes its
 * configuration adds `on` and the password's digest to these rules.
 */

/** The stream that holds the log: one element a group, its id `<last offset>-0`. */
export const LOG_STREAM_KEY = 'log'

/**
 * ACL rules by user, in Redis' own words. `writer` belongs to the synchronizer alone; `reader` can
 * change nothing, so that a replica that was broken into cannot touch the log. CONFIG GET is the
 * writer's, because it refuses a server that may lose what was acknowledged.
 */
export const LOG_ACL = {
  writer: `resetchannels ~${LOG_STREAM_KEY} -@all +eval +xadd +xrange +xrevrange +config|get +ping`,
  reader: `resetchannels %R~${LOG_STREAM_KEY} -@all +xrange +xread +ping`,
} as const
