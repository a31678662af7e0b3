/**
 * The Lua scripts of this package. Their texts are bytes: Lua only compares them, formats no number and
 * decodes nothing (Rule 1).
 */
import { createHash } from 'node:crypto'
import { bytesEqual } from '@quorumscan/base'
import type { Redis } from 'ioredis'
import { type Argument, type Command, toRedis } from './commands.ts'
import { type Bounds, BUCKET_BYTES, SHORT_ID_BYTES, TAG_BYTES } from './intern.ts'
import { CONTRACTS_PREFIX, KEYS } from './keys.ts'

/**
 * Changes everything, or nothing when the head is not the one that the writer started from.
 *
 * KEYS    names, then every key that the commands change
 * ARGV[1] expected  bytes of the head that the batch was computed from, '' for none
 * ARGV[2] next      bytes of the head after the batch
 * ARGV[3…] commands, each: name, number of its key, count of arguments, arguments
 *
 * Returns the head that is stored afterwards: equal to next when written.
 */
const WRITE_BATCH = define(`
local head = redis.call('HGET', KEYS[1], '') or ''
if head ~= ARGV[1] then return head end
local i = 3
while i <= #ARGV do
  local count = tonumber(ARGV[i + 2])
  redis.call(ARGV[i], KEYS[tonumber(ARGV[i + 1])], unpack(ARGV, i + 3, i + 2 + count))
  i = i + 3 + count
end
redis.call('HSET', KEYS[1], '', ARGV[2])
return ARGV[2]
`)

/**
 * Members of a sorted set in byte order, with the versions of their names, and the head, read atomically.
 *
 * KEYS[1] names    hash: holds the head, and the values of members
 * KEYS[2] members  sorted set of score 0
 * ARGV[1] start    first byte of a member, from 1, that belongs to its field in the hash
 * ARGV[2…] ranges, each: min and max as ZRANGE BYLEX takes them, count of members at most
 *
 * Returns {head, members of the first range, their values, members of the second range, …}
 */
const READ_RANGES = define(`
local reply = { redis.call('HGET', KEYS[1], '') }
local start = tonumber(ARGV[1])
for i = 2, #ARGV, 3 do
  local members = redis.call('ZRANGE', KEYS[2], ARGV[i], ARGV[i + 1], 'BYLEX', 'LIMIT', 0, ARGV[i + 2])
  local values = {}
  if #members > 0 then
    local fields = members
    if start > 1 then
      fields = {}
      for j, member in ipairs(members) do fields[j] = string.sub(member, start) end
    end
    values = redis.call('HMGET', KEYS[1], unpack(fields))
  end
  reply[#reply + 1] = members
  reply[#reply + 1] = values
end
return reply
`)

/**
 * Updates of a range of offsets until they exceed a number of bytes, with the head and with
 * the pruned offset, read atomically.
 *
 * KEYS[1] names    (holds the head)
 * KEYS[2] history
 * KEYS[3] updates
 * ARGV[1] command  XRANGE or XREVRANGE
 * ARGV[2] from     id as the command takes it first
 * ARGV[3] to       and second
 * ARGV[4] bytes    the last update is the one that exceeds them
 * ARGV[5] count    updates that are fetched at a time
 *
 * Returns {head, pruned, '1' where the range may continue, id, update, id, update, …}
 */
const READ_UPDATES = define(`
local reply = { redis.call('HGET', KEYS[1], ''), redis.call('HGET', KEYS[2], 'pruned'), '' }
local last = 3
local from = ARGV[2]
local bytes = tonumber(ARGV[4])
local count = tonumber(ARGV[5])
while true do
  local found = redis.call(ARGV[1], KEYS[3], from, ARGV[3], 'COUNT', count)
  for i = 1, #found do
    local entry = found[i]
    local update = entry[2][2]
    reply[last + 1] = entry[1]
    reply[last + 2] = update
    last = last + 2
    bytes = bytes - #update
    if bytes <= 0 then
      reply[3] = '1'
      return reply
    end
  end
  if #found < count then return reply end
  from = '(' .. found[count][1]
end
`)

/** Updates that READ_UPDATES fetches at a time, and the most that it reads in vain. */
const UPDATES_FETCHED = 64

export async function readUpdates(
  redis: Redis,
  range: {
    readonly from: number
    readonly to: number
    readonly order: 'asc' | 'desc'
    readonly bytes: number
  },
) {
  const { from, to, order, bytes } = range
  const ends = [`${from}-0`, `${to}-0`]
  const args = order === 'asc' ? ['XRANGE', ...ends] : ['XREVRANGE', ...ends.toReversed()]
  type Reply = [head: Buffer | null, pruned: Buffer | null, mark: Buffer, ...Buffer[]]
  const [head, pruned, mark, ...flat] = await run<Reply>(
    redis,
    READ_UPDATES,
    [KEYS.names, KEYS.history, KEYS.updates],
    [...args, bytes, UPDATES_FETCHED],
  )
  const entries: { id: Buffer; bytes: Buffer }[] = []
  for (let index = 0; index + 1 < flat.length; index += 2)
    entries.push({ id: flat[index] as Buffer, bytes: flat[index + 1] as Buffer })
  return { head, pruned: pruned?.toString('latin1') ?? null, isCut: mark.length > 0, entries }
}

/**
 * Contracts by id and by index key, and the head, read atomically.
 *
 * KEYS[1]  names  (holds the head)
 * KEYS[2…] bucket of the index for each range
 * ARGV[1]  prefix  of the buckets of contracts; which one follows from the id, so these keys are made here
 * ARGV[2]  bucket  count of bytes of an id that name its bucket
 * ARGV[3]  short   count of bytes of an id, with which every index member ends
 * ARGV[4]  ids     count of ids, which follow
 * ARGV[…]  ranges, each: min and max as ZRANGE BYLEX takes them, count of members at most, -1 for all
 *
 * Returns {head, contracts of the ids, members of the first range, their contracts, …}
 */
const READ_CONTRACTS = define(`
local prefix, bucket, short = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3])
local function read(ids, first, last)
  local values = {}
  for j = first, last do
    local id = string.sub(ids[j], -short)
    local key = prefix .. string.sub(id, 1, bucket)
    values[#values + 1] = redis.call('HGET', key, string.sub(id, bucket + 1))
  end
  return values
end
local reply = { redis.call('HGET', KEYS[1], '') }
local last = 4 + tonumber(ARGV[4])
reply[2] = read(ARGV, 5, last)
for k = 2, #KEYS do
  local i = last + 3 * (k - 2) + 1
  local range = { 'ZRANGE', KEYS[k], ARGV[i], ARGV[i + 1], 'BYLEX', 'LIMIT', 0, ARGV[i + 2] }
  local members = redis.call(unpack(range))
  reply[#reply + 1] = members
  reply[#reply + 1] = read(members, 1, #members)
end
return reply
`)

/**
 * Runs `WRITE_BATCH`. Returns whether the stored head is now `next`.
 *
 * @throws What ioredis throws; after a lost connection the batch may have been written.
 */
export async function writeBatch(
  redis: Redis,
  batch: {
    readonly expected: Uint8Array
    readonly next: Uint8Array
    readonly commands: readonly Command[]
  },
): Promise<boolean> {
  const args: Argument[] = [batch.expected, batch.next]
  // Counted from 1, as Lua does.
  const numberByKey = new Map([[KEYS.names as string, 1]])
  for (const [name, key, ...rest] of batch.commands) {
    const number = numberByKey.get(key) ?? numberByKey.size + 1
    numberByKey.set(key, number)
    args.push(name, number, rest.length, ...rest)
  }
  const head = await run<Buffer>(redis, WRITE_BATCH, [...numberByKey.keys()], args)
  return bytesEqual(head, batch.next)
}

/** Bounds as `ZRANGE BYLEX` takes them. `count` is at most 1 000. */
export type Range = Bounds & { readonly count: number }
export type RangeReply = { readonly members: Buffer[]; readonly values: (Buffer | null)[] }

/** Where the name begins in a member of the sorted sets by which names are read. */
export const NAME_STARTS = { lex: 0, parties: TAG_BYTES }
export type NameOrder = keyof typeof NAME_STARTS

export async function readRanges(redis: Redis, by: NameOrder, ranges: readonly Range[]) {
  const args: Argument[] = [NAME_STARTS[by] + 1]
  for (const range of ranges) args.push(range.min, range.max, range.count)
  const keys = [KEYS.names, KEYS[by]]
  const [head, ...rest] = await run<[Buffer | null, ...Flat]>(redis, READ_RANGES, keys, args)
  return { head, replies: rangesOf(rest) }
}

/** Members and values of each range, one after the other. */
type Flat = (Buffer | null)[][]

function rangesOf(flat: Flat): RangeReply[] {
  const replies: RangeReply[] = []
  for (let at = 0; at + 1 < flat.length; at += 2)
    replies.push({ members: flat[at] as Buffer[], values: flat[at + 1] ?? [] })
  return replies
}

/** Contracts in the order of the ids asked, and those of each range, read atomically. */
export async function readContracts(
  redis: Redis,
  query: {
    /** Short forms. */
    readonly ids: readonly Uint8Array[]
    /** Each in one bucket of the index; a `count` of -1 is for all. */
    readonly ranges: readonly (Range & { readonly key: string })[]
  },
) {
  const { ids, ranges } = query
  const keys = [KEYS.names, ...ranges.map(({ key }) => key)]
  const args: Argument[] = [CONTRACTS_PREFIX, BUCKET_BYTES, SHORT_ID_BYTES, ids.length, ...ids]
  for (const { min, max, count } of ranges) args.push(min, max, count)
  type Reply = [head: Buffer | null, contracts: (Buffer | null)[], ...Flat]
  const [head, contracts, ...rest] = await run<Reply>(redis, READ_CONTRACTS, keys, args)
  return { head, contracts, ranges: rangesOf(rest) }
}

function define(lua: string) {
  return { lua, sha: createHash('sha1').update(lua).digest('hex') }
}

/** @throws What ioredis throws. The reply is as the script returns it. */
async function run<Reply>(
  redis: Redis,
  script: ReturnType<typeof define>,
  keys: readonly string[],
  args: readonly Argument[],
): Promise<Reply> {
  const rest = [keys.length, ...keys, ...args.map(toRedis)]
  try {
    return (await redis.callBuffer('EVALSHA', [script.sha, ...rest])) as Reply
  } catch (error) {
    if (!(error instanceof Error && error.message.startsWith('NOSCRIPT'))) throw error
    return (await redis.callBuffer('EVAL', [script.lua, ...rest])) as Reply
  }
}
