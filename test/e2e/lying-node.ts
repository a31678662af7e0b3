/**
 * A member that lies to readers of certified answers, at the address of a killed node. It knows the current and earlier
 * answers of an honest node, also for other names, and has the killed node's key.
 */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { text } from 'node:stream/consumers'
import { type KeyPair, randomHex, systemRandom, toHex } from '@quorumscan/base'
import { encodeStateStatement } from '@quorumscan/verifier'
import {
  CERTIFIED_MEDIA_TYPE,
  encodeCertificate,
  parseCertificate,
  splitDocument,
} from '@quorumscan/verifier/certified'
import { standIn } from './stand-in.ts'

type Reply = { readonly status: number; readonly body: string }

type Liar = {
  readonly truth: Reply
  /** The first reply of an honest node to this request. */
  readonly first: Reply
  /** The reply of an honest node for another name. */
  other(): Promise<Reply>
  readonly name: string
  readonly scanKey: KeyPair
}

const HASH_BYTES = 32

const changing =
  (change: (body: string) => string) =>
  ({ truth }: Liar): Reply => ({ ...truth, body: change(truth.body) })

const refusing = (status: number, code: string) => (): Reply => ({
  status,
  body: JSON.stringify({ error: 'no', code, retryable: true }),
})

/** An invented state with `count` signatures, all of the liar. */
const inventing =
  (count: number) =>
  ({ truth, name, scanKey }: Liar): Reply => {
    if (truth.status !== 200) return truth
    const { certificate } = splitDocument(truth.body)
    const state = {
      ...parseCertificate(certificate),
      stateRoot: randomHex(systemRandom, HASH_BYTES),
    }
    const signature = toHex(scanKey.sign(encodeStateStatement(state)))
    const signatures = Array.from({ length: count }, () => [name, signature] as const)
    const body = truth.body.replace(certificate, encodeCertificate({ ...state, signatures }))
    return { ...truth, body }
  }

/** With null the node never replies. */
const LIES: Readonly<Record<string, (liar: Liar) => Reply | Promise<Reply> | null>> = {
  replay: ({ first }) => first,
  'another name': ({ other }) => other(),
  'another owner': changing((body) => body.replace(/::1220[0-9a-f]{4}/g, '::1220ffff')),
  'a newer record time': changing((body) =>
    body.replace(/"record_time":\d+/, '"record_time":4000000000000000'),
  ),
  'another offset': changing((body) => body.replace(/"offset":(\d)/, '"offset":9$1')),
  'an empty proof': changing((body) => body.replace(/"proof":.*$/, '"proof":[]}')),
  'a shorter proof': changing((body) => body.replace(/,[^,]*\]\}$/, ']}')),
  'its own state': inventing(1),
  'its own state, signed twice': inventing(2),
  garbage: changing((body) => [...body].reverse().join('')),
  half: changing((body) => body.slice(0, body.length / 2)),
  'no such name': refusing(404, 'ENTRY_NOT_FOUND'),
  'no certificate': refusing(503, 'NO_CERTIFICATE'),
  'an expired state': refusing(410, 'OFFSET_PRUNED'),
  'too many requests': refusing(429, 'RATE_LIMITED'),
  silence: () => null,
}

export type LyingNode = AsyncDisposable & {
  /** Number of kinds of lies. */
  readonly lieCount: number
  /** How often the node used each lie. */
  readonly useCounts: ReadonlyMap<string, number>
}

/** Answers certified requests with one lie after the other, and all other requests truthfully. */
export async function startLyingNode(options: {
  /** URL of the killed node. */
  readonly url: string
  readonly honestUrl: string
  readonly name: string
  readonly scanKey: KeyPair
}): Promise<LyingNode> {
  const { honestUrl, name, scanKey } = options
  const firstReplies = new Map<string, Reply>()
  const useCounts = new Map<string, number>()
  let count = 0

  const fetchHonest = async (path: string, init: RequestInit): Promise<Reply> => {
    const answer = await fetch(`${honestUrl}${path}`, init)
    return { status: answer.status, body: await answer.text() }
  }

  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    const { method = 'GET', url: path = '/' } = request
    const accept = request.headers.accept ?? ''
    const body = method === 'POST' ? await text(request) : null
    const headers = { accept, ...(body === null ? {} : { 'content-type': 'text/plain' }) }
    const init = { method, headers, body }
    const truth = await fetchHonest(path, init)
    const key = `${path.replace(/[?&]min_offset=\d+/, '')} ${body ?? ''}`
    const first = firstReplies.get(key) ?? truth
    firstReplies.set(key, first)
    const isCertified = accept.includes(CERTIFIED_MEDIA_TYPE)
    const [lie = '', replyWith = () => truth] = isCertified
      ? (Object.entries(LIES)[count++ % Object.keys(LIES).length] ?? [])
      : []
    const other = () => fetchHonest('/v0/ans-entries/by-name/dso.ns', { headers })
    const reply = await replyWith({ truth, first, other, name, scanKey })
    if (isCertified) useCounts.set(lie, (useCounts.get(lie) ?? 0) + 1)
    if (reply === null) return
    response.writeHead(reply.status, {
      'content-type':
        reply.status === 200 && isCertified ? CERTIFIED_MEDIA_TYPE : 'application/json',
      'content-length': Buffer.byteLength(reply.body),
    })
    response.end(reply.body)
  }

  const server = await standIn(options.url, answer)
  return {
    lieCount: Object.keys(LIES).length,
    useCounts,
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  }
}
