/**
 * Lua of this package. Texts go in and come out as bytes: Lua only asks whether two are equal, formats
 * no number and decodes nothing (Rule 1).
 */
import { createHash } from 'node:crypto'
import { bytesEqual } from '@quorumscan/base'
import type { Redis } from 'ioredis'
import { KEY_LIST, KEYS, type KeyName, keyNumber } from './keys.ts'

type Script = { readonly lua: string; readonly sha: string }
/** What Redis takes as an argument. */
export type Argument = string | number | Uint8Array
/** One command of a batch: its name, the key it changes, the rest of its arguments. */
export type Command = readonly [name: string, key: KeyName, ...args: Argument[]]

export const WRITE_BATCH = define(`
--[[
  write-batch: changes everything, or nothing when the head is not the one that the writer started from.

  KEYS    all keys of keys.ts in their order; KEYS[1] is names
  ARGV[1] expected  bytes of the head that the batch was computed from, '' for none
  ARGV[2] next      bytes of the head after the batch
  ARGV[3…] commands, each: name, number of its key, count of arguments, arguments

  Returns the head that is stored afterwards: equal to next when written.
]]
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

export const READ_RANGES = define(`
--[[
  read-ranges: members of a sorted set in byte order, with what a hash holds for them, and the head,
  all of one moment.

  KEYS[1] names  (holds the head)
  KEYS[2] members  sorted set of score 0
  KEYS[3] values   hash
  ARGV[1] start    first byte of a member, from 1, that belongs to its field in the hash
  ARGV[2…] ranges, each: min and max as ZRANGE BYLEX takes them, count of members at most

  Returns {head, members of the first range, their values, members of the second range, …}
]]
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
    values = redis.call('HMGET', KEYS[3], unpack(fields))
  end
  reply[#reply + 1] = members
  reply[#reply + 1] = values
end
return reply
`)

/** `unpack` takes a few thousand values: larger commands are cut. */
const COMMAND_ARGUMENTS_MAX = 1_000

/**
 * Runs `WRITE_BATCH`. `wrote` tells whether the stored head is now `next`.
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
): Promise<{ wrote: boolean }> {
  const args: Argument[] = [batch.expected, batch.next]
  for (const [name, key, ...rest] of batch.commands)
    args.push(name, keyNumber(key), rest.length, ...rest)
  const head = await run(redis, WRITE_BATCH, KEY_LIST, args)
  return { wrote: bytesEqual(head as Buffer, batch.next) }
}

/** A command with any number of arguments as several of a size that Lua can unpack. */
export function cutCommand(
  name: string,
  key: KeyName,
  groups: readonly (readonly Argument[])[],
): Command[] {
  const commands: Command[] = []
  let args: Argument[] = []
  for (const group of groups) {
    if (args.length > 0 && args.length + group.length > COMMAND_ARGUMENTS_MAX) {
      commands.push([name, key, ...args])
      args = []
    }
    args.push(...group)
  }
  if (args.length > 0) commands.push([name, key, ...args])
  return commands
}

/** Bounds as `ZRANGE BYLEX` takes them. `count` is at most 1 000. */
export type Range = { readonly min: Uint8Array; readonly max: Uint8Array; readonly count: number }
export type RangeReply = { readonly members: Buffer[]; readonly values: (Buffer | null)[] }

export async function readRanges(
  redis: Redis,
  query: {
    readonly members: 'lex' | 'parties' | 'index'
    readonly values: 'names' | 'contracts'
    /** Bytes of a member before its field in the hash. */
    readonly skip: number
    readonly ranges: readonly Range[]
  },
): Promise<{ head: Buffer | null; replies: RangeReply[] }> {
  const args: Argument[] = [query.skip + 1]
  for (const range of query.ranges) args.push(range.min, range.max, range.count)
  const keys = [KEYS.names, KEYS[query.members], KEYS[query.values]]
  const [head, ...rest] = (await run(redis, READ_RANGES, keys, args)) as [
    Buffer | null,
    ...(Buffer | null)[][],
  ]
  return {
    head,
    replies: query.ranges.map((_, index) => ({
      members: rest[2 * index] as Buffer[],
      values: rest[2 * index + 1] as (Buffer | null)[],
    })),
  }
}

function define(lua: string): Script {
  return { lua, sha: createHash('sha1').update(lua).digest('hex') }
}

async function run(
  redis: Redis,
  script: Script,
  keys: readonly string[],
  args: readonly Argument[],
): Promise<unknown> {
  const rest = [keys.length, ...keys, ...args.map(toRedis)]
  try {
    return await redis.callBuffer('EVALSHA', [script.sha, ...rest])
  } catch (error) {
    if (!(error instanceof Error && error.message.startsWith('NOSCRIPT'))) throw error
    return await redis.callBuffer('EVAL', [script.lua, ...rest])
  }
}

/** The same bytes as ioredis takes them. */
export function toRedis(value: Argument): string | number | Buffer {
  return typeof value === 'object'
    ? Buffer.from(value.buffer, value.byteOffset, value.byteLength)
    : value
}
