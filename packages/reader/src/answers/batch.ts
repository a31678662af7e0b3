/** The batch request (D-14) and its answer, cut into the answers of the single lookups. */

import {
  bytesEqual,
  type Lookup,
  memberOf,
  membersOf,
  parseInstant,
  utf8,
} from '@quorumscan/verifier'
import type { NodeRequest } from '../source/transport.ts'
import { entriesBytesMax } from './answer-sizes.ts'
import { parseJson } from './reply.ts'

const TEXTS = ['user', 'name', 'url', 'description']
const ABSENT = '{"entry":null}'
const STRING = '"[^"\\\\]*(?:\\\\.[^"\\\\]*)*"'
const MEMBER = `"[a-z_]+":(?:null|${STRING})`
/** An answer of D-8 with any texts. It has no nested values, so that matching takes linear time. */
const ANSWER = new RegExp(`\\{"entry":(?:null|\\{${MEMBER}(?:,${MEMBER}){5}\\})\\}`, 'y')

/** The request of a batch. `atOffset` null: the newest offset. */
export function batchRequest(lookups: readonly Lookup[], atOffset: number | null): NodeRequest {
  return {
    method: 'POST',
    path: '/v0/ans-entries/batch',
    // Needs no preflight in a browser (D-14).
    headers: { 'content-type': 'text/plain' },
    body: utf8(JSON.stringify(atOffset === null ? { lookups } : { lookups, at_offset: atOffset })),
    bytesMax: entriesBytesMax(lookups.length),
  }
}

/**
 * Cuts `{"results":[…]}` into its answers, byte for byte, without parsing them: votes are compared as bytes.
 *
 * @returns undefined unless the text holds exactly `lookupCount` answers of the right form.
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

/** Whether the answer is that no such entry exists. */
export function isAbsence(answer: Uint8Array): boolean {
  return bytesEqual(answer, utf8(ABSENT))
}

/**
 * Whether an answer of a batch is valid for this lookup and visible at the record time (D-8, D-9).
 * `cutBatchAnswer` has left no other members than those checked here.
 */
export function isEntryAnswer(answer: Uint8Array, lookup: Lookup, recordTime: number): boolean {
  if (isAbsence(answer)) return true
  const { entry } = membersOf(parseJson(answer))
  const { name, user, contract_id: contractId, expires_at: expiresAt } = membersOf(entry)
  return (
    TEXTS.every((member) => isText(memberOf(entry, member))) &&
    (contractId === null || isText(contractId)) &&
    ('name' in lookup ? name === lookup.name : user === lookup.party) &&
    (expiresAt === null || (isText(expiresAt) && (parseInstant(expiresAt) ?? 0) > recordTime))
  )
}

function isText(value: unknown): value is string {
  return typeof value === 'string'
}
