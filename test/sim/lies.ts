/** Lies of a node about requests. It has its own key and the public answers of others. */
import { fromUtf8 } from '@quorumscan/base'
import type { TransportRequest } from '@quorumscan/reader'
import { entryToWire, type SimNode, type SimReply, simEntry } from '@quorumscan/testkit'
import { formatInstant, type Lookup, utf8 } from '@quorumscan/verifier'
import type { SeededRandom } from '../support/seeded-random.ts'

/** The reply of a lying node. With null it never replies; a rejection resets the connection. */
export type Lie = (input: {
  readonly node: SimNode
  readonly request: TransportRequest
  readonly random: SeededRandom
  /** The client of the request: an equivocating node sends each client another answer. */
  readonly client: number
}) => Promise<SimReply | null>

export const MALLORY = `mallory::1220${'6'.repeat(64)}`
const FAR_MICROS = 4_000_000_000_000_000

type Batch = { lookups: Lookup[]; at_offset?: number }

function batchOf(request: TransportRequest): Batch | null {
  return request.path.endsWith('/batch') && request.body !== null
    ? (JSON.parse(fromUtf8(request.body)) as Batch)
    : null
}

/** Changes the honest answers to lookups with `change`. */
function changingAnswers(
  change: (value: { entry: object | null }, lookup: Lookup, client: number) => object,
): Lie {
  return async ({ node, request, client }) => {
    const reply = await node.answer(request)
    const batch = batchOf(request)
    if (reply.status !== 200 || batch === null) return reply
    const body = JSON.parse(fromUtf8(reply.body)) as { results: { entry: object | null }[] }
    const results = body.results.map((value, index) =>
      change(value, batch.lookups[index] as Lookup, client),
    )
    return { ...reply, body: utf8(JSON.stringify({ ...body, results })) }
  }
}

function changingHeader(
  name: string,
  change: (value: string, random: SeededRandom) => string,
): Lie {
  return async ({ node, request, random }) => {
    const reply = await node.answer(request)
    const headers = { ...reply.headers, [name]: change(reply.headers[name] ?? '0', random) }
    return { ...reply, headers }
  }
}

function changingBody(change: (body: string) => string): Lie {
  return async ({ node, request }) => {
    const reply = await node.answer(request)
    return { ...reply, body: utf8(change(fromUtf8(reply.body))) }
  }
}

/** An invented entry. It is the same for all liars, so that their votes form a group. */
function invented(lookup: Lookup): object {
  const name = 'name' in lookup ? lookup.name : 'mallory.unverified.ns'
  const user = 'name' in lookup ? MALLORY : lookup.party
  return { entry: entryToWire(simEntry(name, { user, expiresAt: FAR_MICROS })) }
}

const status =
  (code: number): Lie =>
  async ({ node, request }) => ({ ...(await node.answer(request)), status: code })

const deny = changingAnswers(() => ({ entry: null }))

/** Requests of the `patient` liar that it answers truly, and then falsely, and so on. */
const PATIENT_COUNT = 40
const answeredBy = new WeakMap<SimNode, number>()

export const LIES: Readonly<Record<string, Lie>> = {
  invent: changingAnswers((_, lookup) => invented(lookup)),
  deny,
  invert: changingAnswers(({ entry }, lookup) =>
    entry === null ? invented(lookup) : { entry: null },
  ),
  steal: changingAnswers(({ entry }) => ({
    entry: entry === null ? null : { ...entry, user: MALLORY },
  })),
  otherName: changingAnswers(() => invented({ name: 'other.unverified.ns' })),
  equivocate: changingAnswers((value, lookup, client) =>
    client % 2 === 0 ? value : invented(lookup),
  ),
  unlikeEachOther: changingAnswers(({ entry }, lookup) =>
    entry === null
      ? invented(lookup)
      : { entry: { ...entry, description: `another one for ${JSON.stringify(lookup)}` } },
  ),
  /** Lies about some names only. */
  selective: async ({ node, request, random, client }) => {
    const isAbout = /n[0-3]\.unverified/.test(fromUtf8(request.body ?? utf8('')))
    return isAbout ? deny({ node, request, random, client }) : node.answer(request)
  },
  /** Answers some names, and keeps silent about others. */
  silentAboutSome: async ({ node, request }) => {
    const isAbout = /n[0-3]\.unverified/.test(fromUtf8(request.body ?? utf8('')))
    return isAbout ? null : node.answer(request)
  },
  /** Is honest until it is trusted. */
  patient: async ({ node, request, random, client }) => {
    const count = (answeredBy.get(node) ?? 0) + 1
    answeredBy.set(node, count)
    const isLie = count % (2 * PATIENT_COUNT) > PATIENT_COUNT
    return isLie ? deny({ node, request, random, client }) : node.answer(request)
  },
  /** An earlier answer, presented as the current one. */
  oldAnswer: async ({ node, request, random }) => {
    const now = await node.answer(request)
    const batch = batchOf(request)
    if (now.status !== 200 || batch?.at_offset === undefined) return now
    const offset = Math.max(node.horizon, batch.at_offset - random.integer(1, 60))
    const body = utf8(JSON.stringify({ ...batch, at_offset: offset }))
    const old = await node.answer({ ...request, body })
    return { ...old, headers: { ...old.headers, ...positionOf(now) } }
  },
  oldPosition: async ({ node, request, random }) => {
    const batch = batchOf(request)
    if (batch?.at_offset === undefined) return node.answer(request)
    const offset = Math.max(node.horizon, batch.at_offset - random.integer(1, 60))
    const body = utf8(JSON.stringify({ ...batch, at_offset: offset }))
    return node.answer({ ...request, body })
  },
  newerTime: changingHeader('x-ledger-record-time', () => formatInstant(FAR_MICROS)),
  otherHistory: changingHeader('x-ledger-history-hash', () => 'ab'.repeat(32)),
  otherOffset: changingHeader('x-ledger-offset', (value) => String(Number(value) + 1)),
  earlyHead: changingHeader('x-ledger-head', (value, random) =>
    String(Number(value) + random.integer(1, 3)),
  ),
  highHead: changingHeader('x-ledger-head', (_, random) => String(10 ** random.integer(3, 15))),
  lowHead: changingHeader('x-ledger-head', () => '0'),
  noHead: changingHeader('x-ledger-head', () => 'x'),
  neverThere: async ({ node, request }) => ({
    ...(await node.answer(request)),
    status: 503,
    body: utf8('{"error":"later","code":"OFFSET_NOT_REACHED"}'),
  }),
  garbage: changingBody((body) => body.split('').reverse().join('')),
  truncated: changingBody((body) => body.slice(0, body.length / 2)),
  doubled: changingBody((body) => body.replace('{', '{"results":[],')),
  html: changingHeader('content-type', () => 'text/html'),
  oversize: async ({ node, request }) => ({
    ...(await node.answer(request)),
    body: new Uint8Array(request.bytesMax + 1),
  }),
  redirect: status(302),
  notFound: status(404),
  error: status(500),
  busy: status(429),
  pruned: status(410),
  hang: async () => null,
  reset: async () => {
    throw new Error('connection reset')
  },
  forgedSignature: changingBody((body) => body.replace(/[0-9a-f]{128}/g, 'ab'.repeat(64))),
  /** Unsigned addresses at which no server listens. */
  falseAddresses: async ({ node, request }) => {
    const reply = await node.answer(request)
    if (request.path !== '/v0/scans') return reply
    const body = fromUtf8(reply.body).replace(/127\.0\.0\.1:\d+/g, '127.0.0.1:9')
    return { ...reply, body: utf8(body.replace(/"sequence":\d+/g, '"sequence":99')) }
  },
}

function positionOf(reply: SimReply): Record<string, string> {
  const names = ['x-ledger-offset', 'x-ledger-record-time', 'x-ledger-history-hash']
  return Object.fromEntries(names.map((name) => [name, reply.headers[name] ?? '']))
}
