/** Lua of this package. Texts go in and come out as bytes; scripts only compare them for equality. */

/**
 * replace-record: writes a user's record if it still is what the caller has read.
 *
 *   KEYS[1] records  hash: user id -> record
 *   KEYS[2] ids      sorted set: user ids
 *   KEYS[3] deleted  hash: user id -> ''
 *   ARGV[1] id
 *   ARGV[2] expected  the record that was read, '' for none
 *   ARGV[3] record    the new one
 *   ARGV[4] by        'self': does not make a user again that was deleted; '': does
 *
 * Returns 1 when written; 0 when another writer was first (the caller reads again); -1 when the user was deleted.
 */
export const REPLACE_RECORD = `
local current = redis.call('HGET', KEYS[1], ARGV[1]) or ''
if current ~= ARGV[2] then return 0 end
if current == '' then
  if ARGV[4] == 'self' and redis.call('HEXISTS', KEYS[3], ARGV[1]) == 1 then return -1 end
  redis.call('HDEL', KEYS[3], ARGV[1])
end
redis.call('HSET', KEYS[1], ARGV[1], ARGV[3])
redis.call('ZADD', KEYS[2], 0, ARGV[1])
return 1
`

/**
 * replace-field: writes a field of a hash if it still is what the caller has read.
 *
 *   KEYS[1] hash
 *   ARGV[1] field
 *   ARGV[2] expected  the text that was read, '' for none
 *   ARGV[3] text      the new one
 *
 * Returns 1 when written; 0 when another writer was first (the caller reads again).
 */
export const REPLACE_FIELD = `
local current = redis.call('HGET', KEYS[1], ARGV[1]) or ''
if current ~= ARGV[2] then return 0 end
redis.call('HSET', KEYS[1], ARGV[1], ARGV[3])
return 1
`

/**
 * delete-record: deletes a user's record, and remembers that it was deleted.
 *
 *   KEYS     as of replace-record
 *   ARGV[1]  id
 *
 * Returns 1 if the user existed, else 0.
 */
export const DELETE_RECORD = `
if redis.call('HDEL', KEYS[1], ARGV[1]) == 0 then return 0 end
redis.call('ZREM', KEYS[2], ARGV[1])
redis.call('HSET', KEYS[3], ARGV[1], '')
return 1
`

/**
 * add-pending: stores a submission unless one of the same change is pending, or too many are.
 *
 *   KEYS[1] pending   hash: entry hash -> submission
 *   KEYS[2] in-flight hash: change id -> entry hash
 *   ARGV[1] entry hash
 *   ARGV[2] change id
 *   ARGV[3] submission
 *   ARGV[4] count of submissions at most
 *
 * Returns 1 when stored; 0 when there are too many; the submission of the same change when one is pending.
 */
export const ADD_PENDING = `
local other = redis.call('HGET', KEYS[2], ARGV[2])
if other then return redis.call('HGET', KEYS[1], other) end
if redis.call('HLEN', KEYS[1]) >= tonumber(ARGV[4]) then return 0 end
redis.call('HSET', KEYS[1], ARGV[1], ARGV[3])
redis.call('HSET', KEYS[2], ARGV[2], ARGV[1])
return 1
`

/**
 * end-pending: takes a submission out, and keeps the completion of one that expired.
 *
 *   KEYS[1] pending   hash: entry hash -> submission
 *   KEYS[2] in-flight hash: change id -> entry hash
 *   KEYS[3] expired   sorted set, score 0: completions
 *   ARGV[1] entry hash
 *   ARGV[2] change id
 *   ARGV[3] completion, '' for none
 *   ARGV[4] rank, from the end, of the newest completion that goes
 *
 * Returns 1 if it was stored; 0 if it was not.
 */
export const END_PENDING = `
if redis.call('HDEL', KEYS[1], ARGV[1]) == 0 then return 0 end
redis.call('HDEL', KEYS[2], ARGV[2])
if ARGV[3] ~= '' then
  redis.call('ZADD', KEYS[3], 0, ARGV[3])
  redis.call('ZREMRANGEBYRANK', KEYS[3], 0, ARGV[4])
end
return 1
`

/**
 * record-payments: adds the payments that are missing, and stores how far the log was read.
 *
 *   KEYS[1] payments  hash: change id -> payment
 *   KEYS[2] expiries  sorted set, score 0
 *   KEYS[3] counts    hash: user id -> number of payments
 *   KEYS[4] reached   hash: genesis hash -> position
 *   ARGV[1] genesis hash
 *   ARGV[2] position
 *   ARGV[3...] of each payment: change id, payment, user id, member of expiries
 */
export const RECORD_PAYMENTS = `
for at = 3, #ARGV, 4 do
  if redis.call('HSETNX', KEYS[1], ARGV[at], ARGV[at + 1]) == 1 then
    redis.call('HINCRBY', KEYS[3], ARGV[at + 2], 1)
    redis.call('ZADD', KEYS[2], 0, ARGV[at + 3])
  end
end
redis.call('HSET', KEYS[4], ARGV[1], ARGV[2])
return 1
`

/**
 * forget-payments: deletes payments that are kept until an earlier time.
 *
 *   KEYS[1] payments  hash: change id -> payment
 *   KEYS[2] expiries  sorted set, score 0
 *   KEYS[3] counts    hash: user id -> number of payments
 *   ARGV[1] end of the range of expiries
 *   ARGV[2] count at most
 *   ARGV[3] bytes of the time in a member of expiries
 *
 * Returns how many were deleted.
 */
export const FORGET_PAYMENTS = `
local members = redis.call('ZRANGEBYLEX', KEYS[2], '-', ARGV[1], 'LIMIT', 0, ARGV[2])
local start = tonumber(ARGV[3]) + 1
for _, member in ipairs(members) do
  redis.call('HDEL', KEYS[1], string.sub(member, start, start + 63))
  local user = string.sub(member, start + 64)
  if redis.call('HINCRBY', KEYS[3], user, -1) <= 0 then redis.call('HDEL', KEYS[3], user) end
  redis.call('ZREM', KEYS[2], member)
end
return #members
`
