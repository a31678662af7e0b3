/** The truth of a small ledger, and what nodes make of it. */
import { formatInstant, utf8 } from '@quorumscan/verifier'
import { START_MICROS } from '../../driver/testing/virtual.ts'
import type { NodeRequest, TransportReply } from '../../source/transport.ts'
import type { Way } from './scripts.ts'

/** How many offsets a lagging node lags. */
const BEHIND = 3

export function historyAt(offset: number): string {
  return offset.toString(16).padStart(64, '0')
}

/** What there is of a name changes with the offset, and sometimes there is nothing. */
export function answerAt(name: string, offset: number): string {
  if ((offset + name.charCodeAt(0)) % 3 === 0) return '{"entry":null}'
  return entryAnswer(name, `https://v${offset}.example`)
}

/** The reply of a node to a request, with the answers in it; null: no reply. */
export function replyTo(
  request: NodeRequest,
  { way, head }: { readonly way: Way; readonly head: number },
): { readonly reply: TransportReply; readonly said: readonly Said[] } | null {
  if (way === 'lost') return null
  const own = way === 'behind' ? Math.max(0, head - BEHIND) : head
  const { names, offset = own } = readRequest(request)
  const refused = { lagging: 503, pruned: 410, busy: 429, missing: 404 }[way as string]
  const headers = {
    'content-type': 'application/json',
    'x-ledger-head': String(way === 'high' ? 1_000_000 : own),
    'x-ledger-offset': String(way === 'offset' ? offset + 1 : offset),
    'x-ledger-record-time': formatInstant(START_MICROS - 10_000_000 + offset * 1000),
    'x-ledger-history-hash': way === 'history' ? 'f'.repeat(64) : historyAt(offset),
  }
  const replyWith = (status: number, body: string): TransportReply => ({
    status,
    header: (name) => (headers as Record<string, string>)[name] ?? null,
    body: utf8(body),
  })
  if (refused !== undefined || offset > own)
    return { reply: replyWith(refused ?? 503, '{"code":"OFFSET_NOT_REACHED"}'), said: [] }
  const said = names.map((name) => {
    const answer = way === 'nonsense' ? entryAnswer('other', '') : answerAt(name, offset)
    return { name, offset, answer: way === 'lie' ? entryAnswer(name, 'https://lie') : answer }
  })
  const answers = said.map(({ answer }) => answer)
  const whole = request.method === 'GET' ? answers[0] : `{"results":[${answers}]}`
  return { reply: replyWith(200, way === 'garbage' ? '{"results":[' : (whole ?? '')), said }
}

export type Said = { readonly name: string; readonly offset: number; readonly answer: string }

type ParsedRequest = {
  readonly names: readonly string[]
  readonly offset: number | undefined
}

/** A page asks for the name in its path, a batch for those in its body. */
function readRequest({ method, path, headers, body }: NodeRequest): ParsedRequest {
  if (method === 'GET') {
    const at = headers['x-read-at-offset']
    const offset = at === undefined ? undefined : Number(at)
    return { names: [path.slice(1)], offset }
  }
  const asked = JSON.parse(new TextDecoder().decode(body ?? utf8('')))
  const names = (asked.lookups as { name: string }[]).map(({ name }) => name)
  return { names, offset: asked.at_offset }
}

function entryAnswer(name: string, url: string): string {
  return `{"entry":{"contract_id":"00","user":"u","name":"${name}","url":"${url}","description":"","expires_at":null}}`
}
