/** The batch request (D-14) and its answer, cut into the answers of the single lookups. */

import type { Lookup } from '@quorumscan/verifier'
import { bytesEqual, parseInstant, utf8 } from '@quorumscan/verifier'
import type { TransportRequest } from '../source/transport.ts'
import { entriesBytesMax } from './answer-sizes.ts'
import { parseJson } from './reply.ts'

const BATCH_PATH = '/v0/ans-entries/batch'
const TEXTS = ['user', 'name', 'url', 'description']
const ABSENT = utf8('{"entry":null}')
const STRING = '"[^"\\\\]*(?:\\\\.[^"\\\\]*)*"'
const MEMBER = `"[a-z_]+":(?:null|${STRING})`
/** An answer of D-8, whatever its texts: nothing in it is nested. Takes time in proportion to the text. */
const ANSWER = new RegExp(`\\{"entry":(?:null|\\{${MEMBER}(?:,${MEMBER}){5}\\})\\}`, 'y')

/** `atOffset` null asks for the newest. */
export function encodeBatch(
  lookups: readonly Lookup[],
  atOffset: number | null,
): Uint8Array<ArrayBuffer> {
  return utf8(JSON.stringify({ lookups, ...(atOffset === null ? {} : { at_offset: atOffset }) }))
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
    bytesMax: entriesBytesMax(lookupCount),
  }
}

/**
 * Cuts `{"results":[…]}` into its answers, byte for byte. What they say is not looked at: they are voted on
 * as bytes.
 *
 * @returns undefined unless there are exactly so many, each of the form of an answer, and nothing else.
 */
export function cutBatchAnswer(
  text: string,
  lookupCount: number,
): Uint8Array<ArrayBuffer>[] | undefined {
  const answers: string[] = []
  let position = '{"results":['.length
  while (answers.length < lookupCount) {
    ANSWER.lastIndex = position
    const answer = ANSWER.exec(text)?.[0]
    if (answer === undefined) return undefined
    answers.push(answer)
    position = ANSWER.lastIndex + ','.length
  }
  return text === `{"results":[${answers}]}` ? answers.map(utf8) : undefined
}

/** Whether the answer says that there is no such entry. */
export function isAbsence(answer: Uint8Array): boolean {
  return bytesEqual(answer, ABSENT)
}

/**
 * Whether an answer out of a batch is a valid one to this lookup, visible at the record time (D-8, D-9). Cut
 * out of one, it has no other members than those looked at here.
 */
export function isEntryAnswer(answer: Uint8Array, lookup: Lookup, recordTime: number): boolean {
  if (isAbsence(answer)) return true
  const { entry } = Object(parseJson(answer))
  if (!entry) return false
  const { contract_id: contractId, expires_at: expiresAt } = entry
  return (
    TEXTS.every((name) => isText(entry[name])) &&
    (contractId === null || isText(contractId)) &&
    ('name' in lookup ? entry.name === lookup.name : entry.user === lookup.party) &&
    (expiresAt === null || (isText(expiresAt) && (parseInstant(expiresAt) ?? 0) > recordTime))
  )
}

function isText(value: unknown): value is string {
  return typeof value === 'string'
}
