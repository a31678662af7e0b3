/** Judges one HTTP reply of a node (D-35): an answer, lag, or a failure, which never votes. */

import { fromUtf8, type HistoryPoint, membersOf, parseInstant } from '@quorumscan/verifier'
import type { TransportReply } from '../source/transport.ts'

export type Reply =
  | {
      readonly kind: 'answer'
      readonly point: HistoryPoint
      readonly body: Uint8Array<ArrayBuffer>
    }
  | { readonly kind: 'lagging'; readonly reason: 'not-reached' | 'pruned' }
  | { readonly kind: 'failed'; readonly reason: string }

const OFFSET = /^(?:0|[1-9][0-9]{0,15})$/
const HASH = /^[0-9a-f]{64}$/
const CODE = /^[A-Z_]{1,40}$/
const ERROR_BODY_BYTES_MAX = 4096 // A body of D-6 is far smaller; more is not read.
/** The same depth as for log entries; no document of a node is as deep. */
const JSON_DEPTH_MAX = 32

export function parseOffsetText(text: string | null): number | undefined {
  const offset = Number(text)
  return text !== null && OFFSET.test(text) && Number.isSafeInteger(offset) ? offset : undefined
}

/** Judges status and headers; the body is for the operation's own parser. */
export function judgeReply(reply: TransportReply): Reply {
  if (reply.status !== 200) {
    const { text: reason } = readRefusal(reply)
    if (reason === 'status 503 OFFSET_NOT_REACHED')
      return { kind: 'lagging', reason: 'not-reached' }
    if (reply.status === 410) return { kind: 'lagging', reason: 'pruned' }
    return { kind: 'failed', reason }
  }
  if (!/^application\/json *(?:;|$)/i.test(reply.header('content-type') ?? ''))
    return { kind: 'failed', reason: 'not JSON' }
  const offset = parseOffsetText(reply.header('x-ledger-offset'))
  const recordTime = parseInstant(reply.header('x-ledger-record-time') ?? '')
  const historyHash = reply.header('x-ledger-history-hash') ?? ''
  if (offset === undefined || recordTime === undefined || !HASH.test(historyHash))
    return { kind: 'failed', reason: 'no ledger position' }
  return {
    kind: 'answer',
    point: { offset, recordTime, historyHash },
    body: reply.body,
  }
}

/** A body as text, byte for byte; empty unless it is well-formed UTF-8. */
export function decodeText(body: Uint8Array): string {
  try {
    return fromUtf8(body)
  } catch (error) {
    if (!(error instanceof TypeError)) throw error // The platform has no decoder.
    return '' // Bytes of a node are never trusted to be anything.
  }
}

/** A body as a value; undefined unless it is well-formed JSON of bounded depth in well-formed UTF-8. */
export function parseJson(body: Uint8Array): unknown {
  if (!isShallow(body)) return undefined
  try {
    return JSON.parse(decodeText(body))
  } catch {
    return undefined
  }
}

/** Checked before parsing, which would allocate a value for every bracket. */
function isShallow(body: Uint8Array): boolean {
  let depth = 0
  let isText = false
  const { byteLength } = body // Read once: the getter costs more than all else here.
  for (let position = 0; position < byteLength; position++) {
    const byte = body[position]
    if (byte === 0x22) isText = !isText
    else if (isText)
      position += byte === 0x5c ? 1 : 0 // What follows a backslash ends no text.
    else if (byte === 0x5b || byte === 0x7b) depth++
    else if (byte === 0x5d || byte === 0x7d) depth--
    if (depth > JSON_DEPTH_MAX) return false
  }
  return true
}

/** The refusal in a reply that is not an answer: error code, and how long the node asks to wait. */
export function readRefusal({ status, header, body }: TransportReply): {
  /** Empty if the node sent none. */
  readonly code: string
  /** For messages: the status, and the code if the node sent one. */
  readonly text: string
  /** The node's error sentence; empty if it sent none. */
  readonly sentence: string
  /** null: the node named no time. */
  readonly retryAfterMs: number | null
} {
  const refusal = body.byteLength > ERROR_BODY_BYTES_MAX ? null : parseJson(body)
  const { code: named, error } = membersOf(refusal)
  const [code = ''] = CODE.exec(String(named)) ?? []
  const seconds = header('retry-after') ?? ''
  return {
    code,
    text: `status ${status} ${code}`.trimEnd(),
    sentence: typeof error === 'string' ? error : '',
    retryAfterMs: /^[0-9]{1,6}$/.test(seconds) ? Number(seconds) * 1000 : null,
  }
}
