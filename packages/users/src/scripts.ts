/** Lua of this package. Texts go in and come out as bytes; equality is all that is asked of them. */

export const REPLACE_RECORD = `
--[[
  replace-record: writes a user's record if it still is what the caller has read.

  KEYS[1] records  hash: user id -> record
  KEYS[2] ids      sorted set: user ids
  ARGV[1] id
  ARGV[2] expected  the record that was read, '' for none
  ARGV[3] record    the new one

  Returns 1 when written
          0 when another writer was first (the caller reads again)
]]
local current = redis.call('HGET', KEYS[1], ARGV[1]) or ''
if current ~= ARGV[2] then return 0 end
redis.call('HSET', KEYS[1], ARGV[1], ARGV[3])
redis.call('ZADD', KEYS[2], 0, ARGV[1])
return 1
`
