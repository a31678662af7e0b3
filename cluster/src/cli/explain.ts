/** What every single node says to a lookup at the offset at which it was decided, the slow ones included. */
import type { Clock } from '@quorumscan/base'
import type {
  Decided,
  Lookup,
  NodeStatus,
  NodeVote,
  Transport,
  TransportReply,
} from '@quorumscan/consensus'
import { formatTime } from '@quorumscan/model'
import { messageOf } from '../cluster-error.ts'

/** As the reader itself would show it. */
export type Explained = NodeVote

/** As long as a read of the proxy waits (D-38). */
const WAIT_MS = 2000
/** One entry has under 4 KiB; so has an error. */
const ANSWER_BYTES_MAX = 65_536

type Question = {
  readonly lookup: Lookup
  readonly outcome: Decided
  readonly transport: Transport
  readonly clock: Clock
}

/** Asks all nodes at once; in their order. */
export function askEach(nodes: readonly NodeStatus[], question: Question): Promise<Explained[]> {
  return Promise.all(nodes.map((node) => ask(node, question)))
}

async function ask(node: NodeStatus, question: Question): Promise<Explained> {
  const base = { node: node.name, url: node.url, head: node.head }
  if (node.url === null) return { ...base, kind: 'failed', reason: 'no address' }
  const { lookup, outcome, transport, clock } = question
  const over = new AbortController()
  const lateness = clock.delay(WAIT_MS, over.signal)
  lateness.then(
    () => over.abort(new Error(`no answer within ${WAIT_MS} ms`)),
    () => {}, // It answered in time.
  )
  try {
    const reply = await transport.request({
      url: node.url,
      method: 'POST',
      path: '/v0/ans-entries/batch',
      headers: { 'content-type': 'text/plain' },
      body: new TextEncoder().encode(
        JSON.stringify({ lookups: [lookup], at_offset: outcome.offset }),
      ),
      bytesMax: ANSWER_BYTES_MAX,
      channel: 'lookup',
      isPublicOnly: false, // The operator's own cluster.
      signal: over.signal,
    })
    const head = Number(reply.header('x-ledger-head') ?? Number.NaN)
    return { ...base, head: Number.isSafeInteger(head) ? head : null, ...judge(reply, outcome) }
  } catch (error) {
    const isLate = over.signal.aborted
    return {
      ...base,
      kind: isLate ? 'silent' : 'failed',
      reason: messageOf(isLate ? over.signal.reason : (Object(error).cause ?? error)),
    }
  } finally {
    over.abort()
  }
}

/** Equal means equal bytes, at the same place in history (D-35). */
function judge(reply: TransportReply, outcome: Decided): Pick<Explained, 'kind' | 'reason'> {
  const text = new TextDecoder().decode(reply.body)
  if (reply.status !== 200) {
    const code = codeOf(text)
    const isLag = code === 'OFFSET_NOT_REACHED' || code === 'OFFSET_PRUNED'
    return { kind: isLag ? 'lagging' : 'failed', reason: code ?? `status ${reply.status}` }
  }
  const place = ['offset', 'record-time', 'history-hash'].map((name) =>
    reply.header(`x-ledger-${name}`),
  )
  const expected = [String(outcome.offset), formatTime(outcome.recordTime), outcome.historyHash]
  if (place.join() !== expected.join())
    return { kind: 'dissented', reason: 'holds another history, or answers another offset' }
  const isEqual = text === `{"results":[${new TextDecoder().decode(outcome.answer)}]}`
  return isEqual
    ? { kind: 'agreed', reason: null }
    : { kind: 'dissented', reason: 'gives another answer' }
}

function codeOf(text: string): string | null {
  try {
    const { code } = Object(JSON.parse(text))
    return typeof code === 'string' && /^[A-Z_]{1,40}$/.test(code) ? code : null
  } catch {
    return null // Somebody else answered.
  }
}
