/**
 * Updates by pages. A walk is described by its page token alone: the range, how far it was read, and the order. Each page
 * checks all of it again, so that a token needs no signature.
 */
import { setImmediate as nextTurn } from 'node:timers/promises'
import {
  type BodyOf,
  type ledgerRoutes,
  UPDATES_PAGE_DEFAULT,
  UPDATES_PAGE_MAX,
} from '@quorumscan/api'
import { utf8 } from '@quorumscan/base'
import { LedgerError } from '@quorumscan/errors'
import type { Offset } from '@quorumscan/model'
import type { UpdateRange } from '@quorumscan/replica'
import type { Caller } from './callers.ts'
import { invalidArgument, missingField } from './commands/grammar.ts'
import type { LedgerReads } from './dependencies.ts'
import { assertMayRead, readUpdateFormat } from './formats.ts'
import { TURN_CHARACTERS } from './list.ts'
import { afterLedgerEnd, assertNotPruned, negativeOffset, nonPositiveOffset } from './offsets.ts'
import { createProjection, type Projection } from './projection.ts'
import { firstPortionBytes, nextPortionBytes, readPortion } from './update-stream.ts'

/** Characters of the updates of a page: it ends with the update that reaches them. */
const PAGE_CHARACTERS_MAX = 4 * 1024 * 1024
/** Updates that are read for a page, also those that the format does not show. */
const PAGE_ROWS_MAX = 10_000
/** Updates between two turns of the event loop, in which other requests are served. Fewer if their JSON is long. */
const TURN_ROWS = 64

type PageReads = Pick<LedgerReads, 'feed' | 'guard' | 'replica' | 'synchronizerId'>

type PageRequest = BodyOf<(typeof ledgerRoutes)['getUpdatesPage']>

/** A walk over `begin < offset <= end` of which a page has been read. */
type Walk = {
  readonly order: UpdateRange['order']
  readonly begin: Offset
  /** Null: the walk continues with updates to come. */
  readonly end: Offset | null
  /** Ascending: all up to here was shown. Descending: all after it. */
  readonly position: Offset
}

type Page = {
  readonly elements: readonly string[]
  /** The offset of the last update that was read; null if the range was read to its end. */
  readonly last: Offset | null
}

export function updatesPageHandler(reads: PageReads) {
  return async (request: {
    readonly body: PageRequest
    readonly caller: Caller
    readonly signal: AbortSignal
    readonly countRows: (rows: number) => void
  }): Promise<Uint8Array> => {
    const { body, caller, countRows } = request
    const { walk, project, limit, ledgerEnd } = await checkPage(reads, body, caller)
    const { order, begin, end, position } = walk
    const isAscending = order === 'asc'
    const range = isAscending
      ? { after: position, upTo: end ?? ledgerEnd, order }
      : { after: begin, upTo: position, order }
    const signal = await reads.guard.watch(caller, request.signal)
    const page = await readPage(reads, range, { project, limit, signal, countRows })
    const lowest = isAscending || page.last === null ? range.after : page.last - 1
    const highest = isAscending ? (page.last ?? range.upTo) : range.upTo
    const reached = isAscending ? highest : lowest
    const isComplete = isAscending ? reached === end : reached === begin
    const token = isComplete ? null : writeToken({ order, begin, end, position: reached })
    return utf8(
      `{"updates":[${page.elements.join(',')}],"lowestPageOffsetExclusive":${lowest},` +
        `"highestPageOffsetInclusive":${highest},"nextPageToken":${JSON.stringify(token)}}`,
    )
  }
}

/** @throws {LedgerError} The first of: format, rights, page, offsets, names in the format, pruning (as §L3.1). */
async function checkPage(reads: PageReads, body: PageRequest, caller: Caller) {
  const { updateFormat, maxPageSize: limit = UPDATES_PAGE_DEFAULT } = body
  if (updateFormat === undefined) throw missingField('update_format')
  assertMayRead(caller, updateFormat)
  if (limit < 1 || limit > UPDATES_PAGE_MAX)
    throw invalidArgument(`max_page_size lies between 1 and ${UPDATES_PAGE_MAX}`)
  const ledgerEnd = reads.feed.end().offset
  checkRange(body, ledgerEnd)
  const walk = await walkOf(reads, body, ledgerEnd)
  const project = createProjection(readUpdateFormat(updateFormat), reads.synchronizerId)
  const isAscending = walk.order === 'asc'
  const after = isAscending ? walk.position : walk.begin
  const upTo = isAscending ? walk.end : walk.position
  if (after !== upTo) await assertNotPruned(reads, { after, upTo })
  return { walk, project, limit, ledgerEnd }
}

/** @throws {LedgerError} NEGATIVE_OFFSET, NON_POSITIVE_OFFSET, OFFSET_AFTER_LEDGER_END, OFFSET_OUT_OF_RANGE. */
function checkRange(body: PageRequest, ledgerEnd: Offset): void {
  const { beginOffsetExclusive: begin = 0, endOffsetInclusive: end } = body
  if (begin < 0) throw negativeOffset('begin_offset_exclusive', begin)
  if (end !== undefined && end <= 0) throw nonPositiveOffset('end_offset_inclusive', end)
  if (begin > ledgerEnd) throw afterLedgerEnd('Begin', begin, ledgerEnd)
  if (end === undefined) return
  if (end > ledgerEnd) throw afterLedgerEnd('End', end, ledgerEnd)
  if (begin > end)
    throw new LedgerError(
      'OFFSET_OUT_OF_RANGE',
      `the end offset ${end} is before the begin offset ${begin}`,
    )
}

/** @throws {LedgerError} INVALID_ARGUMENT for a token of another walk, OFFSET_AFTER_LEDGER_END. */
async function walkOf(reads: PageReads, body: PageRequest, ledgerEnd: Offset): Promise<Walk> {
  const { beginOffsetExclusive: begin = 0, endOffsetInclusive: end, pageToken = '' } = body
  const order = body.descendingOrder ? 'desc' : 'asc'
  if (pageToken !== '') {
    const walk = readToken(pageToken)
    const isSameBegin = begin === 0 || begin === walk.begin
    const isSameEnd = end === undefined ? walk.end === null || order === 'desc' : end === walk.end
    if (walk.order !== order || !isSameBegin || !isSameEnd)
      throw invalidArgument('page_token belongs to a request with another range or order')
    const newest = walk.end ?? walk.position
    if (newest > ledgerEnd) throw afterLedgerEnd('Page token', newest, ledgerEnd)
    return walk
  }
  // A walk over all that is left fails later on, if more of it is pruned meanwhile.
  const first = begin === 0 ? await reads.replica.history.prunedOffset() : Number(begin)
  // What is pruned up to the end is an empty range.
  const last = end === undefined ? (order === 'asc' ? null : ledgerEnd) : Number(end)
  const start = last === null ? first : Math.min(first, last)
  return { order, begin: start, end: last, position: order === 'asc' ? start : (last ?? ledgerEnd) }
}

/** The first updates of a range, as far as a page goes. */
async function readPage(
  { feed }: Pick<LedgerReads, 'feed'>,
  range: UpdateRange,
  options: {
    readonly project: Projection
    readonly limit: number
    readonly signal: AbortSignal
    readonly countRows: (rows: number) => void
  },
): Promise<Page> {
  const { project, limit, signal, countRows } = options
  const elements: string[] = []
  let characters = 0
  let rows = 0
  let turn = { rows: 0, characters: 0 }
  let bytes = firstPortionBytes(limit)
  let next: UpdateRange | null = range.after < range.upTo ? range : null
  while (next !== null) {
    const { updates, rest } = await readPortion(feed, { ...next, bytes })
    signal.throwIfAborted()
    for (const update of updates) {
      if (turn.rows >= TURN_ROWS || turn.characters >= TURN_CHARACTERS) {
        await nextTurn()
        signal.throwIfAborted()
        turn = { rows: 0, characters: 0 }
      }
      countRows(1)
      rows += 1
      turn.rows += 1
      const element = project(update)
      if (element !== null) {
        elements.push(element)
        characters += element.length
        turn.characters += element.length
      }
      const isFull = elements.length >= limit || characters >= PAGE_CHARACTERS_MAX
      if (isFull || rows >= PAGE_ROWS_MAX) return { elements, last: update.offset }
    }
    bytes = nextPortionBytes(bytes)
    next = rest
  }
  return { elements, last: null }
}

const TOKEN = /^(asc|desc):([0-9]{1,15}):([0-9]{1,15})?:([0-9]{1,15})$/

function writeToken({ order, begin, end, position }: Walk): string {
  return Buffer.from(`${order}:${begin}:${end ?? ''}:${position}`).toString('base64url')
}

/** @throws {LedgerError} INVALID_ARGUMENT unless it is a token that `writeToken` makes. */
function readToken(token: string): Walk {
  const [, order, begin, end, position] =
    TOKEN.exec(Buffer.from(token, 'base64url').toString('latin1')) ?? []
  const walk: Walk = {
    order: order === 'desc' ? 'desc' : 'asc',
    begin: Number(begin),
    end: end === undefined ? null : Number(end),
    position: Number(position),
  }
  const isOrdered = walk.begin <= walk.position && (walk.end === null || walk.position <= walk.end)
  if (order === undefined || !isOrdered || (walk.order === 'desc' && walk.end === null))
    throw invalidArgument('page_token was not issued by this participant')
  return walk
}
