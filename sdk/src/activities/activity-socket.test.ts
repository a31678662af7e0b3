/** How activities follow a validator over a WebSocket: against a proxy told what to send, with real receipts. */

import { hash } from 'node:crypto'
import {
  canonicalRequest,
  createReceipt,
  encodeAnswerStatement,
  toHex,
} from '@quorumscan/consensus'
import { createTestNetwork } from '@quorumscan/testkit'
import { expect, it } from 'vitest'
import { type ToldSide, toldSockets } from '../../testing/told-socket.ts'
import { type Clock, systemClock } from '../platform/clock.ts'
import { createMemoryStore } from '../platform/store.ts'
import { createValidator } from '../validator.ts'
import type { ActivitiesOptions } from './activities.ts'

const PAGE_SIZE = 2
const idOf = (index: number) => `${String(index).padStart(16, '0')}:0000`
const { genesis, genesisHash, scans } = createTestNetwork()

const rowOf = (index: number) => ({
  activity_type: 'devnet_tap',
  event_id: idOf(index),
  date: '2026-01-01T00:00:00.000000Z',
  domain_id: 'sync',
  offset: String(index),
  round: 1,
  transfer: null,
  mint: null,
  tap: { coin_owner: `alice::1220${'a'.repeat(64)}`, coin_amount: '1.0000000000' },
  abort_transfer_instruction: null,
})

type Frame = Record<string, unknown>

/** The page of these rows that comes after a row, as the nodes signed it. */
function page(
  indexes: readonly number[],
  after: number | null,
  changes: { offset?: number; signers?: number; ageMs?: number; without?: string } = {},
): Frame {
  const { offset = 50, signers = 2, ageMs = 0 } = changes
  const parameters = {
    page_size: PAGE_SIZE,
    begin_after_id: after === null ? null : idOf(after),
    sort_order: 'asc',
  }
  const request = { operation: 'listActivities', parameters }
  const body = { activities: indexes.map(rowOf) }
  const answer = new TextEncoder().encode(JSON.stringify(body))
  const at = {
    offset,
    recordTime: systemClock.nowMicros() - ageMs * 1000,
    historyHash: 'ab'.repeat(32),
  }
  const statement = encodeAnswerStatement({
    genesisHash,
    ...at,
    requestHash: hash('sha256', canonicalRequest(request), 'hex'),
    answerHash: hash('sha256', answer, 'hex'),
  })
  const signatures = scans
    .slice(0, signers)
    .map((key, index): [string, string] => [`sv-${index + 1}`, toHex(key.sign(statement))])
  const agreed = signatures.map(([name]) => name)
  const outcome = {
    kind: 'verified',
    answer,
    ...at,
    signatures,
    ...{ threshold: signers, nodeCount: 4, answered: 4, agreed, dissented: [] },
  } as const
  const headers: Record<string, string> = {
    'x-quorum-outcome': 'verified',
    'x-quorum-threshold': '2',
    'x-quorum-nodes': '4/4',
    'x-quorum-agreed': agreed.join(','),
    'x-quorum-dissented': 'sv-4',
  }
  if (changes.without !== undefined) delete headers[changes.without]
  const receipt = createReceipt({ outcome, request, genesisHash })
  return { status: 200, answer: body, receipt, headers }
}

const refusal = (code: string, retryable: boolean): Frame => ({
  error: `no: ${code}`,
  code,
  definite: true,
  retryable,
  request_id: 'r',
  details: null,
})

/** `serve` is what the proxy does with each socket, in order; `pages` what it answers to each page. */
function world(behaviour: {
  readonly serve: readonly ((server: ToldSide) => void)[]
  readonly pages?: readonly Frame[]
  readonly isTrusted?: boolean
}) {
  const delays: number[] = []
  const pagesAsked: unknown[] = []
  let nowMs = 0
  /** Deadlines do not pass, silence does where nothing else is left to happen, pauses do at once. */
  const clock: Clock = {
    ...systemClock,
    monotonicMs: () => nowMs,
    async delay(ms, signal) {
      if (ms === 45_000) {
        for (let turn = 0; turn < 3; turn++)
          await new Promise<void>((resolve) => setImmediate(resolve))
      } else if (ms === 10_000)
        await new Promise<void>((resolve) => signal?.addEventListener('abort', () => resolve()))
      signal?.throwIfAborted()
      delays.push(ms)
      nowMs += ms
    },
  }
  const { WebSocket, opened } = toldSockets(behaviour.serve)
  const { activities } = createValidator({
    url: 'https://validator.test/api/validator',
    ...(behaviour.isTrusted === true ? {} : { genesis }),
    WebSocket,
    clock,
    random: () => 0.5,
    fetch: async (_, init) => {
      const frame = behaviour.pages?.[pagesAsked.length]
      pagesAsked.push(JSON.parse(String(init?.body)))
      if (frame === undefined) throw new TypeError('no page was expected')
      const { headers, ...body } = frame
      return new Response(JSON.stringify(body), { headers: headers as Record<string, string> })
    },
  })
  /** Takes so many, then leaves the loop. */
  const take = async (count: number, options: ActivitiesOptions = {}) => {
    const ids: string[] = []
    for await (const { eventId } of activities({ pageSize: PAGE_SIZE, follow: true, ...options })) {
      ids.push(eventId)
      if (ids.length === count) break
    }
    return ids
  }
  return { activities, take, opened, pagesAsked, delays }
}

it('come over one WebSocket that is asked once, each page with its receipt', async () => {
  const frames = [page([1, 2], null), page([3], 2), page([], 3), page([7], 3)]
  const { take, opened, pagesAsked } = world({ serve: [(server) => server.open(...frames)] })
  expect(await take(4, { threshold: 2, minOffset: 9, maxAgeMs: 30_000.5 })).toEqual(
    [1, 2, 3, 7].map(idOf),
  )
  expect(opened.map(({ url, protocols }) => [url, protocols])).toEqual([
    ['wss://validator.test/api/validator/v0/scan-proxy/activities', []],
  ])
  expect(opened[0]?.request()).toEqual({
    page_size: PAGE_SIZE,
    begin_after_id: null,
    sort_order: 'asc',
    quorum: '2',
    min_offset: 9,
    max_age_ms: 30_001,
  })
  expect(pagesAsked).toEqual([])
})

it('go on after the last row when the connection is lost, with growing pauses', async () => {
  const [first, second] = [page([1, 2], null), page([5], 2)]
  const { take, opened, delays } = world({
    serve: [
      (server) => {
        server.open(first)
        server.close(1001)
      },
      (server) => {
        server.open()
        server.close()
      },
      (server) => {
        server.open(refusal('CONSENSUS_LAGGING', true))
        server.close(1000)
      },
      (server) => server.open(second),
    ],
  })
  const checkpoint = { store: createMemoryStore(), key: 'coin' }
  expect(await take(3, { checkpoint })).toEqual([1, 2, 5].map(idOf))
  expect(opened.map((server) => server.request()['begin_after_id'])).toEqual([
    null,
    ...Array(3).fill(idOf(2)),
  ])
  expect(delays).toEqual([375, 750, 1500])
  expect(await checkpoint.store.get('coin')).toBe(idOf(2))
})

it('take a proxy that is silent for lost, and one that has nothing to show for alive', async () => {
  const [first, empty, second] = [page([1], null), page([], 1), page([2], 1)]
  const { take, opened, delays } = world({
    serve: [(server) => server.open(first, empty, empty), (server) => server.open(second)],
  })
  expect(await take(2)).toEqual([1, 2].map(idOf))
  expect(opened.length).toBe(2)
  expect(delays).toEqual([45_000, 375])
})

it.each([
  ['are not what was signed', () => change(page([3], 2), 3, 4), 'INVALID_RECEIPT'],
  ['too few nodes signed', () => page([3], 2, { signers: 1 }), 'INVALID_RECEIPT'],
  ['came before', () => page([1, 2], null), 'INVALID_RECEIPT'],
  ['leave rows out', () => page([5], 4), 'INVALID_RECEIPT'],
  ['have no shape', () => ({ ...page([3], 2), answer: {} }), 'INVALID_RESPONSE'],
  ['no nodes agreed on', () => page([3], 2, { without: 'x-quorum-outcome' }), 'INVALID_RESPONSE'],
])('refuse rows that %s', async (_, wrong, code) => {
  const frames = [page([1, 2], null), wrong()]
  const { take } = world({ serve: [(server) => server.open(...frames)] })
  await expect(take(3)).rejects.toMatchObject({ code, retryable: false })
})

/** The same receipt under other rows. */
function change(frame: Frame, from: number, to: number): Frame {
  const { receipt, ...rest } = frame
  const body = JSON.stringify(rest).replaceAll(idOf(from), idOf(to))
  const answer = toHex(new TextEncoder().encode(JSON.stringify({ activities: [rowOf(to)] })))
  return { ...JSON.parse(body), receipt: { ...(receipt as object), answer } }
}

it.each([
  ['older than they may be', { ageMs: 61_000 }],
  ['older than the page before', { offset: 49 }],
])('do not rest on pages that are %s: they ask anew', async (_, old) => {
  const [first, second, good] = [page([1, 2], null), page([3], 2, old), page([3], 2)]
  const { take, opened } = world({
    serve: [(server) => server.open(first, second), (server) => server.open(good)],
  })
  expect(await take(3)).toEqual([1, 2, 3].map(idOf))
  expect(opened.length).toBe(2)
})

it('come by pages where no WebSocket opens, and for a minute none is tried again', async () => {
  const pages = [page([1, 2], null), page([], 2), page([4], 2)]
  const { take, opened, pagesAsked } = world({ serve: [(server) => server.close()], pages })
  expect(await take(3)).toEqual([1, 2, 4].map(idOf))
  expect([opened.length, pagesAsked.length]).toEqual([1, 3])
})

it('try a WebSocket again after a minute of pages', async () => {
  const pages = [page([], null), page([], null)]
  const later = page([1], null)
  const { take, opened, pagesAsked } = world({
    serve: [(server) => server.close(), (server) => server.open(later)],
    pages,
  })
  expect(await take(1, { pollMs: 30_000 })).toEqual([idOf(1)])
  expect([opened.length, pagesAsked.length]).toEqual([2, 2])
})

it('come by pages where they are not followed', async () => {
  const pages = [page([1, 2], null), page([], 2)]
  const { take, opened, pagesAsked } = world({ serve: [], pages })
  expect(await take(9, { follow: false })).toEqual([1, 2].map(idOf))
  expect([opened.length, pagesAsked.length]).toEqual([0, 2])
})

it('end with what does not pass, in the words of the proxy', async () => {
  const { take, opened } = world({
    serve: [(server) => server.open(refusal('INVALID_QUORUM', false))],
  })
  await expect(take(1)).rejects.toMatchObject({
    code: 'INVALID_QUORUM',
    message: 'no: INVALID_QUORUM',
  })
  expect(opened.length).toBe(1)
})

it.each([
  ['again', [2, 3]],
  ['in another order', [4, 3]],
  ['more than asked for', [3, 4, 5]],
])('refuse rows of a trusted proxy that come %s', async (_, indexes) => {
  const frames = [page([1, 2], null), page(indexes, 2)]
  const { take } = world({ isTrusted: true, serve: [(server) => server.open(...frames)] })
  await expect(take(5)).rejects.toMatchObject({ code: 'INVALID_RESPONSE', retryable: false })
})

it('of a trusted proxy come as it says', async () => {
  const frames = [page([1, 2], null), page([3], 2, { signers: 1 })]
  const { take } = world({ isTrusted: true, serve: [(server) => server.open(...frames)] })
  expect(await take(3)).toEqual([1, 2, 3].map(idOf))
})

it('are not gathered without end for a consumer that is slow', async () => {
  const many = await Promise.all(
    Array.from({ length: 20 }, (_, index) => page([index + 1], index || null)),
  )
  const serve = (server: ToldSide) => {
    server.open()
    const after = server.request()['begin_after_id']
    server.send(...many.slice(after === null ? 0 : Number(String(after).slice(0, 16))))
  }
  const { take, opened } = world({ serve: Array(9).fill(serve) })
  expect((await take(20)).length).toBe(20)
  expect(opened.length).toBe(3)
})

it('end when the signal aborts, with its reason', async () => {
  const frames = [page([1, 2], null)]
  const abort = new AbortController()
  const { activities } = world({ serve: [(server) => server.open(...frames)] })
  const following = (async () => {
    for await (const _ of activities({ pageSize: PAGE_SIZE, follow: true, signal: abort.signal }))
      abort.abort(new Error('enough'))
  })()
  await expect(following).rejects.toThrow(/^enough$/)
})
