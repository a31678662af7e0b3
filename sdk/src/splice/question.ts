/** What is asked of every scan alike, and what makes a reply an answer to it. */
import type { TransportReply } from '@quorumscan/reader'
import { retryAfter } from '../http/http-failures.ts'
import { isObject, type JsonValue, parseExactJson } from './exact-json.ts'
import type { VoteFailure } from './vote-step.ts'

/** A read of the Scan API. */
export type Question<T extends JsonValue> = {
  /** For messages. */
  readonly what: string
  readonly method: 'GET' | 'POST'
  /** Below `/api/scan`, with its query. */
  readonly path: string
  readonly body: JsonValue | null
  /** A larger answer is none. */
  readonly bytesMax: number
  /** The text of the 404 that says that there is no such thing; null where no 404 is an answer. */
  readonly absence: string | null
  /**
   * What the body says, without what differs from node to node; null: there is no such thing.
   *
   * @returns undefined if it is no answer to this question.
   */
  read(body: JsonValue, nowMicros: number): T | null | undefined
}

/** A question, but for how its answers are read. */
export function get(path: string, what: string, bytesMax: number): Omit<Question<never>, 'read'> {
  return { what, method: 'GET', path, body: null, bytesMax, absence: null }
}

export function post(path: string, what: string, bytesMax: number): Omit<Question<never>, 'read'> {
  return { ...get(path, what, bytesMax), method: 'POST' }
}

/** What a reply, or none, amounts to. */
export type Judged<T> = { readonly kind: 'answered'; readonly value: T | null } | Failed

type Failed = {
  readonly kind: 'failed'
  readonly failure: VoteFailure
  /** How long the scan asks to be left alone. */
  readonly retryAfterMs: number | null
}

/**
 * Judges one reply. Only a 200 with an answer of the right form, or the 404 that names what was asked for, is a
 * vote: a 404 of a wrong address, of a proxy or of a scan that has not started says nothing about names.
 */
export function judgeReply<T extends JsonValue>(
  question: Question<T>,
  reply: TransportReply,
  nowMicros: number,
): Judged<T> {
  const { status } = reply
  if (status !== 200 && status !== 404)
    return failed(`HTTP status ${status}`, retryAfter(reply.header('retry-after')))
  let body: JsonValue
  try {
    body = parseExactJson(new TextDecoder('utf-8', { fatal: true }).decode(reply.body))
  } catch {
    return failed(`no JSON, with HTTP status ${status}`)
  }
  if (status === 404)
    return question.absence !== null && isObject(body) && body['error'] === question.absence
      ? { kind: 'answered', value: null }
      : failed('a 404 that is about something else')
  const value = question.read(body, nowMicros)
  return value === undefined ? failed('no answer to what was asked') : { kind: 'answered', value }
}

/** What came is no answer. */
function failed(reason: string, retryAfterMs: number | null = null): Failed {
  return { kind: 'failed', failure: { reason, isReachable: true }, retryAfterMs }
}
