/** The one way into the log. */

export const APPEND_GROUP = `--[[
  append-group: adds one group behind the newest, or does nothing.

  The stream's newest id fences writers: of two that believe in the same end, one wins, and the other
  learns of it. It also makes a repeated call harmless, because the first moved the end.

  KEYS[1] log           stream: one element a group, id <last offset>-0, fields g (bytes), s (signature)
  ARGV[1] expectedId    id of the newest group as the caller believes, '' for none
  ARGV[2] groupId       id of the group to add
  ARGV[3] group         bytes, passed through unread
  ARGV[4] signature     bytes, passed through unread

  Returns 1 when added
          0 when the newest group is another (the caller reads it and decides)
]]
local log = KEYS[1]
local expectedId, groupId, group, signature = ARGV[1], ARGV[2], ARGV[3], ARGV[4]
local newest = redis.call('XREVRANGE', log, '+', '-', 'COUNT', 1)
local newestId = ''
if newest[1] then newestId = newest[1][1] end
if newestId ~= expectedId then return 0 end
redis.call('XADD', log, groupId, 'g', group, 's', signature)
return 1
`
