/** The batch request (D-14) and its answer, cut into the answers of the single lookups. */
import { utf8 } from './bytes.ts'
import type { Lookup } from './canonical-request.ts'
import { parseJson } from './reply.ts'
import { parseInstant } from './time.ts'
import type { TransportRequest } from './transport.ts'

/** D-14. */
export const BATCH_LOOKUPS_MAX = 256
const BATCH_PATH = '/v0/ans-entries/batch'
// An entry has at most 60 + 255 + 3·140 + 255 bytes of text, quoted, and a signature: half of this.
const BATCH_ANSWER_BYTES_MAX = 4096

const HEADERS_BYTES = 4096 // Room for an error body where an empty batch was asked for.
const NAME_LENGTH_MAX = 255 // What the operation takes; longer ones cannot exist anyway.
const LONE_SURROGATE = /[\uD800-\uDBFF](?![\uDC00-\uDFFF])|(?<![\uD800-\uDBFF])[\uDC00-\uDFFF]/
const PARTY = /^[A-Za-z0-9_-]{1,185}::1220[0-9a-f]{64}$/
const ABSENT = utf8('{"entry":null}')
const RESULTS = utf8('{"results":[')
const [QUOTE, BACKSLASH, COMMA, OPEN, CLOSE] = [0x22, 0x5c, 0x2c, 0x7b, 0x7d]

/** Whether every node takes it as a lookup: a well-formed name of at most 255 units, or a party (D-30). */
export function isLookup(lookup: Lookup): boolean {
  return 'name' in lookup
    ? lookup.name.length <= NAME_LENGTH_MAX && !LONE_SURROGATE.test(lookup.name)
    : PARTY.test(lookup.party)
}

/** `atOffset` null asks for the newest. */
export function encodeBatch(
  lookups: readonly Lookup[],
  options: { readonly atOffset: number | null; readonly sign: boolean },
): Uint8Array<ArrayBuffer> {
  const body = {
    lookups,
    ...(options.atOffset === null ? {} : { at_offset: options.atOffset }),
    ...(options.sign ? { sign: true } : {}),
  }
  return utf8(JSON.stringify(body))
}

/** The request for such a body to a node. */
export function batchRequest(
  body: Uint8Array<ArrayBuffer>,
  lookupCount: number,
): Pick<TransportRequest, 'method' | 'path' | 'headers' | 'body' | 'bytesMax'> {
  return {
    method: 'POST',
    path: BATCH_PATH,
    // Needs no preflight in a browser (D-14).
    headers: { 'content-type': 'text/plain' },
    body,
    bytesMax: HEADERS_BYTES + lookupCount * BATCH_ANSWER_BYTES_MAX,
  }
}

export type BatchAnswer = {
  /** Exact bytes such as `{"entry":null}`, copied out of the body, in the order asked. */
  readonly answers: readonly Uint8Array<ArrayBuffer>[]
  /** Hex, one an answer; null where they were not asked for. */
  readonly signatures: readonly string[] | null
}

/**
 * Cuts `{"results":[…]}` into its answers without writing JSON anew: what is compared, hashed and
 * signed are the node's bytes. An answer is valid if it has exactly the members of D-8, answers its
 * lookup, and is visible at the record time (D-9).
 *
 * @returns undefined unless the body is exactly that, compact, for exactly these lookups.
 */
export function parseBatchAnswer(body: Uint8Array, asked: Asked): BatchAnswer | undefined {
  const answers = cutBatch(body, asked, () => ']}')
  return answers && { answers, signatures: null }
}

/** What was asked for, and when it was answered (µs). */
export type Asked = { readonly lookups: readonly Lookup[]; readonly recordTime: number }

/** As `parseBatchAnswer`, with another end; `tailOf` says which, undefined where there is none. */
export function cutBatch(
  body: Uint8Array,
  { lookups, recordTime }: Asked,
  tailOf: (document: object) => string | undefined,
): Uint8Array<ArrayBuffer>[] | undefined {
  const document = parseJson(body) as { results?: unknown } | undefined
  const results = document?.results
  if (!Array.isArray(results) || results.length !== lookups.length) return undefined
  for (const [index, lookup] of lookups.entries())
    if (!isEntryAnswer(results[index], lookup, recordTime)) return undefined
  const cut = cutResults(body)
  if (cut === undefined || cut.answers.length !== results.length) return undefined
  const tail = tailOf(document as object)
  return tail !== undefined && isTail(body, cut.end, tail) ? cut.answers : undefined
}

/** Whether the answer says that there is no such entry. */
export function isAbsence(answer: Uint8Array): boolean {
  return answer.byteLength === ABSENT.byteLength && startsAt(answer, 0, ABSENT)
}

/** The array's elements as byte ranges. The body is known to be valid JSON. */
function cutResults(
  body: Uint8Array,
): { answers: Uint8Array<ArrayBuffer>[]; end: number } | undefined {
  if (!startsAt(body, 0, RESULTS)) return undefined
  const answers: Uint8Array<ArrayBuffer>[] = []
  let position = RESULTS.byteLength
  while (body[position] === OPEN) {
    const end = endOfObject(body, position)
    answers.push(copy(body, position, end))
    position = body[end] === COMMA && body[end + 1] === OPEN ? end + 1 : end
  }
  return { answers, end: position }
}

function endOfObject(body: Uint8Array, start: number): number {
  let depth = 0
  for (let position = start; position < body.byteLength; position++) {
    const byte = body[position]
    if (byte === QUOTE) position = endOfString(body, position)
    else if (byte === OPEN) depth++
    else if (byte === CLOSE && --depth === 0) return position + 1
  }
  return body.byteLength
}

/** The position of the closing quote. */
function endOfString(body: Uint8Array, start: number): number {
  let position = start + 1
  while (position < body.byteLength && body[position] !== QUOTE)
    position += body[position] === BACKSLASH ? 2 : 1
  return position
}

function copy(body: Uint8Array, start: number, end: number): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(end - start)
  bytes.set(body.subarray(start, end))
  return bytes
}

function isTail(body: Uint8Array, position: number, text: string): boolean {
  return body.byteLength === position + text.length && startsAt(body, position, utf8(text))
}

function startsAt(body: Uint8Array, position: number, text: Uint8Array): boolean {
  for (let index = 0; index < text.byteLength; index++)
    if (body[position + index] !== text[index]) return false
  return true
}

/** Whether a parsed value is a valid answer to this lookup at this record time. */
export function isEntryAnswer(value: unknown, lookup: Lookup, recordTime: number): boolean {
  if (!hasMembers(value, 1)) return false
  const entry = value['entry']
  if (entry === null) return true
  if (!hasMembers(entry, 6)) return false
  const expiresAt = entry['expires_at']
  return (
    isTextOrNull(entry['contract_id']) &&
    typeof entry['user'] === 'string' &&
    typeof entry['name'] === 'string' &&
    typeof entry['url'] === 'string' &&
    typeof entry['description'] === 'string' &&
    ('name' in lookup ? entry['name'] === lookup.name : entry['user'] === lookup.party) &&
    (expiresAt === null ||
      (typeof expiresAt === 'string' && (parseInstant(expiresAt) ?? 0) > recordTime))
  )
}

function hasMembers(value: unknown, count: number): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && Object.keys(value).length === count
}

function isTextOrNull(value: unknown): boolean {
  return value === null || typeof value === 'string'
}
