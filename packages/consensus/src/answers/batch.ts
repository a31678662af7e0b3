/** The batch request (D-14) and its answer, cut into the answers of the single lookups. */
import { bytesEqual, utf8 } from '../encoding/bytes.ts'
import { LONE_SURROGATE } from '../encoding/canonical-json.ts'
import { parseInstant } from '../encoding/time.ts'
import type { TransportRequest } from '../nodes/transport.ts'
import type { Lookup } from '../statements/canonical-request.ts'
import { decodeText, parseText } from './reply.ts'

/** D-14. */
export const BATCH_LOOKUPS_MAX = 256
const BATCH_PATH = '/v0/ans-entries/batch'
// An entry has at most 60 + 255 + 3·140 + 255 bytes of text, quoted, and a signature: half of this.
const BATCH_ANSWER_BYTES_MAX = 4096

const HEADERS_BYTES = 4096 // Room for an error body where an empty batch was asked for.
const NAME_LENGTH_MAX = 255 // What the operation takes; longer ones cannot exist anyway.
const PARTY = /^[A-Za-z0-9_-]{1,185}::1220[0-9a-f]{64}$/
const TEXTS = ['user', 'name', 'url', 'description']
const ABSENT = utf8('{"entry":null}')

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

/** What was asked for, and when it was answered (µs). */
export type Asked = { readonly lookups: readonly Lookup[]; readonly recordTime: number }

/**
 * Takes the answers out of `{"results":[…]}`. What is compared, hashed and signed are the node's bytes:
 * the body has to be what `JSON.stringify` writes of it, so that written anew they are the same. An answer
 * is valid if it has exactly the members of D-8, answers its lookup, and is visible at the record time (D-9).
 *
 * @param tailOf - What follows the answers, undefined where that is not as it should be.
 * @returns undefined unless the body is exactly that, for exactly these lookups.
 */
export function parseBatchAnswer(
  body: Uint8Array,
  { lookups, recordTime }: Asked,
  tailOf: (document: object) => string | undefined = () => ']}',
): Uint8Array<ArrayBuffer>[] | undefined {
  const text = decodeText(body)
  const document = parseText(text) as { readonly results?: unknown } | undefined
  const results = document?.results
  if (!Array.isArray(results) || results.length !== lookups.length) return undefined
  for (const [index, lookup] of lookups.entries())
    if (!isEntryAnswer(results[index], lookup, recordTime)) return undefined
  const answers = results.map((result) => JSON.stringify(result))
  const tail = tailOf(document as object)
  const isExact = tail !== undefined && text === `{"results":[${answers}${tail}`
  return isExact ? answers.map(utf8) : undefined
}

/** Whether the answer says that there is no such entry. */
export function isAbsence(answer: Uint8Array): boolean {
  return bytesEqual(answer, ABSENT)
}

/** Whether a parsed value is a valid answer to this lookup at this record time. */
export function isEntryAnswer(value: unknown, lookup: Lookup, recordTime: number): boolean {
  if (!hasMembers(value, 1)) return false
  const entry = value['entry']
  if (entry === null) return true
  if (!hasMembers(entry, 6)) return false
  const { contract_id: contractId, expires_at: expiresAt } = entry
  return (
    TEXTS.every((name) => isText(entry[name])) &&
    (contractId === null || isText(contractId)) &&
    ('name' in lookup ? entry['name'] === lookup.name : entry['user'] === lookup.party) &&
    (expiresAt === null || (isText(expiresAt) && (parseInstant(expiresAt) ?? 0) > recordTime))
  )
}

function hasMembers(value: unknown, count: number): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && Object.keys(value).length === count
}

function isText(value: unknown): value is string {
  return typeof value === 'string'
}
