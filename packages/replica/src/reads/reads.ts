/**
 * Reads of names and documents at a readable offset. Each command returns the data together with the head. Documents are
 * the contracts that describe the network (`DOCUMENT_ENTITIES`), such as `AnsRules` and `ScanAddress`.
 */
import { utf8 } from '@quorumscan/base'
import { ScanError } from '@quorumscan/errors'
import type { Contract, LogPosition, PartyId } from '@quorumscan/model'
import type { Redis } from 'ioredis'
import { reach } from '../connection.ts'
import { ownerOf } from '../storage/entry-body.ts'
import { decodeSpan } from '../storage/head.ts'
import { readWithHead } from '../storage/head-reads.ts'
import { type Bounds, lexBound, membersWith, tagOf } from '../storage/intern.ts'
import { KEYS } from '../storage/keys.ts'
import { NAME_STARTS, type NameOrder, type RangeReply, readRanges } from '../storage/scripts.ts'
import { activeVersions, findVisible } from '../storage/versions.ts'
import type { Store } from './contracts.ts'
import type { NameReader } from './name-reader.ts'

/** A name with the bytes of its entry, as lookups answer them. */
export type NamedBody = { readonly name: string; readonly body: Uint8Array }

/** Members per read that are not visible, or not yet. More would delay other reads of Redis. */
export const INVISIBLE_MEMBERS_MAX = 10_000
/** Members per command: what Redis does without noticeable delay for others (300 µs). */
const PORTION = 1_000
/** The first name of a party is nearly always among its first ones. */
const FIRST_PORTION = 4

/** Bodies of the entries with these names at the position; null for a name without an entry. */
export async function readNames(
  reader: NameReader,
  names: readonly string[],
  position: LogPosition,
): Promise<(Uint8Array | null)[]> {
  const values = await readVersions(reader, names, position)
  return values.map((value) => (value === null ? null : findVisible(value, position)))
}

/**
 * All versions of these names that may be visible at the position; null for a name without versions.
 *
 * @param how - How names are read that are not cached.
 */
export async function readVersions(
  reader: NameReader,
  names: readonly string[],
  position: LogPosition,
  how: 'fetch' | 'fetchOfPage' = 'fetch',
): Promise<(Buffer | null)[]> {
  const values = names.map((name) => reader.known(name, position.offset))
  const missing = names.filter((_, index) => values[index] === undefined)
  if (missing.length > 0) {
    const { head, byName } = await reach(reader[how](missing))
    assertReadable(head, position)
    for (const [index, name] of names.entries()) values[index] ??= byName.get(name) ?? null
  }
  return values.map((value) => value ?? null)
}

/** Body of the lowest visible name of each party; null for a party without a name. */
export async function readParties(
  redis: Redis,
  parties: readonly PartyId[],
  position: LogPosition,
): Promise<(Uint8Array | null)[]> {
  if (parties.length === 0) return []
  const ranges = parties.map((party) => ({ ...rangeOfParty(party, null), count: FIRST_PORTION }))
  const { head, replies } = await reach(readRanges(redis, 'parties', ranges))
  assertReadable(head, position)
  const budget = { invisible: INVISIBLE_MEMBERS_MAX }
  const answers: (Uint8Array | null)[] = []
  for (const [index, party] of parties.entries()) {
    const reply = replies[index] as RangeReply
    const visible = visibleOf(reply, 'parties', position).filter(isOwnedBy(party))
    budget.invisible -= reply.members.length - visible.length
    const last = reply.members.at(-1)
    let [first] = visible
    if (first === undefined && last !== undefined && reply.members.length === FIRST_PORTION) {
      const range = { min: lexBound('(', last), max: rangeOfParty(party, null).max }
      const walk = { by: 'parties', range, limit: 1, accept: isOwnedBy(party) } as const
      first = (await collect(redis, walk, position, budget))[0]
    }
    answers.push(first?.body ?? null)
  }
  return answers
}

type Page = { readonly after: string | null; readonly limit: number }

/** Visible entries whose name starts with the prefix, in byte order of the names, after a name. */
export async function readPrefix(
  redis: Redis,
  { prefix, after, limit }: Page & { readonly prefix: string },
  position: LogPosition,
): Promise<NamedBody[]> {
  const start = utf8(prefix)
  const bounds = prefix === '' ? { min: utf8('-'), max: utf8('+') } : membersWith(start)
  const range = { ...bounds, min: laterOf(bounds.min, start, after) }
  return await collect(redis, { by: 'lex', range, limit, accept: () => true }, position)
}

/** Visible entries of the party, in byte order of the names, after a name. */
export async function readNamesOfParty(
  redis: Redis,
  { party, after, limit }: Page & { readonly party: PartyId },
  position: LogPosition,
): Promise<NamedBody[]> {
  const range = rangeOfParty(party, after)
  return await collect(redis, { by: 'parties', range, limit, accept: isOwnedBy(party) }, position)
}

/** The contracts of the entity that are active at the position, the newest first. */
export async function readDocuments(
  { redis, layout }: Store,
  entity: string,
  position: LogPosition,
): Promise<readonly Contract[]> {
  const reading = readWithHead<[Buffer | null]>(redis, (transaction) =>
    transaction.hgetBuffer(KEYS.documents, entity),
  )
  const { head, replies } = await reach(reading)
  assertReadable(head, position)
  return activeVersions(replies[0], position.offset).map(({ body }) => layout.codec.decode(body))
}

/** Versions of all documents, by entity, read atomically with the head. */
export async function readAllDocuments(redis: Redis) {
  const { head, replies } = await readWithHead<[Record<string, Buffer>]>(redis, (transaction) =>
    transaction.hgetallBuffer(KEYS.documents),
  )
  return { head, documents: replies[0] }
}

/** Versions of the names after one, in byte order, at most `count`, read atomically with the head. */
export async function readNamesAfter(redis: Redis, after: string | null, count: number) {
  const min = after === null ? utf8('-') : lexBound('(', utf8(after))
  const ranges = [{ min, max: utf8('+'), count }]
  const { head, replies } = await readRanges(redis, 'lex', ranges)
  const { members = [], values = [] } = replies[0] ?? {}
  const names = members.map((name, index) => [name.toString(), values[index] ?? null] as const)
  return { head, names: new Map(names) }
}

async function collect(
  redis: Redis,
  walk: {
    readonly by: NameOrder
    readonly range: Bounds
    readonly limit: number
    readonly accept: (entry: NamedBody) => boolean
  },
  position: LogPosition,
  budget = { invisible: INVISIBLE_MEMBERS_MAX },
): Promise<NamedBody[]> {
  const found: NamedBody[] = []
  let { min } = walk.range
  let count = Math.min(walk.limit, PORTION)
  while (found.length < walk.limit) {
    const ranges = [{ min, max: walk.range.max, count }]
    const { head, replies } = await reach(readRanges(redis, walk.by, ranges))
    assertReadable(head, position)
    const reply = replies[0] as RangeReply
    const visible = visibleOf(reply, walk.by, position).filter(walk.accept)
    found.push(...visible)
    budget.invisible -= reply.members.length - visible.length
    if (budget.invisible < 0)
      throw new ScanError(
        'OVERLOADED',
        'Too many names of this range have just expired; ask again in a few minutes, or for a narrower range.',
      )
    const last = reply.members.at(-1)
    if (last === undefined || reply.members.length < count) break
    min = lexBound('(', last)
    count = PORTION
  }
  return found.slice(0, walk.limit)
}

function visibleOf(reply: RangeReply, by: NameOrder, position: LogPosition): NamedBody[] {
  return reply.members.flatMap((member, index) => {
    const value = reply.values[index]
    const body = value === null || value === undefined ? null : findVisible(value, position)
    return body === null ? [] : [{ name: member.toString('utf8', NAME_STARTS[by]), body }]
  })
}

// A name's versions may be of several parties, and two parties could share a tag.
function isOwnedBy(party: PartyId): (entry: NamedBody) => boolean {
  return ({ body }) => ownerOf(body) === party
}

function rangeOfParty(party: PartyId, after: string | null): Bounds {
  const tag = tagOf(party)
  const { min, max } = membersWith(tag)
  return { min: after === null ? min : lexBound('(', Buffer.concat([tag, utf8(after)])), max }
}

function laterOf(min: Uint8Array, prefix: Uint8Array, after: string | null): Uint8Array {
  if (after === null) return min
  const name = utf8(after)
  return Buffer.compare(name, prefix) < 0 ? min : lexBound('(', name)
}

/** @throws {ScanError} Unless the head that was read with the data has reached the offset, and the horizon has not passed it. */
export function assertReadable(head: Buffer | null | undefined, position: LogPosition): void {
  if (head === null || head === undefined) throw offsetNotReached(position.offset)
  const { offset, horizon } = decodeSpan(head)
  if (offset < position.offset) throw offsetNotReached(position.offset)
  if (horizon > position.offset) throw offsetPruned(position.offset)
}

export function offsetNotReached(offset: number): ScanError {
  return new ScanError('OFFSET_NOT_REACHED', `Offset ${offset} has not been applied here yet.`, {
    details: { offset },
    retryAfterSeconds: 1,
  })
}

export function offsetPruned(offset: number): ScanError {
  return new ScanError('OFFSET_PRUNED', `Offset ${offset} lies below the history horizon.`, {
    details: { offset },
  })
}
