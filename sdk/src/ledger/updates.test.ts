/** How a stream of updates continues when sockets and pages fail, against a scripted ledger interface. */
import { membersOf } from '@quorumscan/verifier'
import { describe, expect, it } from 'vitest'
import { type ServerSide, scriptedSockets } from '../../testing/scripted-socket.ts'
import { QuorumscanError } from '../errors.ts'
import type { Http } from '../http/http.ts'
import type { HttpRequest } from '../http/http-request.ts'
import { type Clock, systemClock } from '../platform/clock.ts'
import { createLocalStorageStore, createMemoryStore, type WebStorage } from '../platform/store.ts'
import { createUpdates, findUpdate, formatOf, type Update, type UpdatesOptions } from './updates.ts'

const ALICE = `alice::1220${'a'.repeat(64)}`

const element = (offset: number) => ({
  update: {
    Transaction: {
      value: {
        updateId: `u${offset}`,
        commandId: '',
        workflowId: '',
        effectiveAt: '',
        events: [],
        offset,
        synchronizerId: 's',
        traceContext: null,
        recordTime: '',
        externalTransactionHash: null,
        paidTrafficCost: null,
      },
    },
  },
})
const refusal = (code: string, retryInfo: string | null) => ({
  code,
  cause: `no: ${code}`,
  correlationId: null,
  traceId: null,
  context: {},
  retryInfo,
  definiteAnswer: null,
})
const silent = (offset: number) => ({
  update: { OffsetCheckpoint: { value: { offset, synchronizerTimes: [] } } },
})

/** `serve` is what the server does with each socket, in order of opening; `pages` with each page. */
function world(behaviour: {
  readonly serve?: readonly ((server: ServerSide) => void)[]
  readonly pages?: readonly ((request: HttpRequest) => unknown)[]
  readonly ledgerEnd?: number
  readonly tokens?: readonly string[]
}) {
  const delays: number[] = []
  const pagesRead: HttpRequest[] = []
  let nowMs = 0
  /** Pauses end at once; the waits of a socket end only if nothing else is left to happen. */
  const clock: Clock = {
    ...systemClock,
    monotonicMs: () => nowMs,
    async delay(ms, signal) {
      if (ms >= 10_000) {
        await new Promise<void>((resolve) => setImmediate(resolve))
        await new Promise<void>((resolve) => setImmediate(resolve))
        signal?.throwIfAborted()
      }
      signal?.throwIfAborted()
      delays.push(ms)
      nowMs += ms
    },
  }
  const tokens = [...(behaviour.tokens ?? ['t-1'])]
  let token = tokens.shift() ?? null
  const http: Http = {
    timeLeft: () => () => 10_000,
    offset: () => 7,
    send: async () => ({ status: 200, text: '', header: () => null }),
    async token(refused) {
      if (refused === token) token = tokens.shift() ?? token
      return token
    },
    async call(request, isValid) {
      if (request.path === '/v2/state/ledger-end') {
        const end: unknown = { offset: behaviour.ledgerEnd ?? 0 }
        if (!isValid(end)) throw new Error('not valid')
        return end
      }
      const page = behaviour.pages?.[pagesRead.length]
      pagesRead.push(request)
      const body = page?.(request)
      if (!isValid(body)) throw new Error(`no such page: ${pagesRead.length}`)
      return body
    },
  }
  const { WebSocket, opened } = scriptedSockets(behaviour.serve ?? [])
  const updates = createUpdates({
    http,
    clock,
    random: () => 0.5,
    url: 'https://validator.test',
    WebSocket: behaviour.serve === undefined ? null : WebSocket,
  })
  /** Takes `count` updates, then leaves the loop. */
  const take = async (count: number, options: Partial<UpdatesOptions> = {}) => {
    const taken: Update[] = []
    for await (const update of updates({ parties: [ALICE], ...options })) {
      taken.push(update)
      if (taken.length === count) break
    }
    return taken.map(({ offset }) => offset)
  }
  return { updates, take, opened, pagesRead, delays, http }
}

it('come over a WebSocket, asked for once, with the token as a sub-protocol', async () => {
  const { take, opened, pagesRead } = world({
    serve: [
      (server) => {
        server.open()
        server.send(element(3), silent(4), element(5))
      },
    ],
  })
  expect(await take(2, { after: 2 })).toEqual([3, 5])
  expect(opened.map(({ url, protocols }) => [url, protocols])).toEqual([
    ['wss://validator.test/v2/updates', ['daml.ws.auth', 'jwt.token.t-1']],
  ])
  expect(opened[0]?.request()).toMatchObject({
    beginExclusive: 2,
    updateFormat: { includeTransactions: { eventFormat: { filtersByParty: { [ALICE]: {} } } } },
  })
  expect(pagesRead).toEqual([])
})

it('continue after the last one when the connection is lost, with growing pauses', async () => {
  const { take, opened, delays } = world({
    serve: [
      (server) => {
        server.open()
        server.send(element(1), element(2))
        server.close(1001)
      },
      (server) => {
        server.open()
        server.close(1006)
      },
      (server) => {
        server.open()
        server.send(silent(7), element(8))
      },
    ],
  })
  expect(await take(3)).toEqual([1, 2, 8])
  expect(opened.map((server) => server.request().beginExclusive)).toEqual([0, 2, 2])
  expect(delays).toEqual([375, 750])
})

it('continue when the connection is silent for too long', async () => {
  const { take, delays } = world({
    serve: [
      (server) => {
        server.open()
        server.send(element(1))
      },
      (server) => {
        server.open()
        server.send(element(2))
      },
    ],
  })
  expect(await take(2)).toEqual([1, 2])
  expect(delays).toContain(45_000)
})

it('end with a range when the server has sent all of it', async () => {
  const { take, opened } = world({
    ledgerEnd: 5,
    serve: [
      (server) => {
        server.open()
        server.send(element(1), element(4))
        server.close(1000)
      },
    ],
  })
  expect(await take(99, { follow: false })).toEqual([1, 4])
  expect(opened[0]?.request().endInclusive).toBe(5)
})

it('come by pages if no WebSocket opens, and none is tried for a minute', async () => {
  const { take, opened, pagesRead } = world({
    serve: [(server) => server.close()],
    pages: [() => [element(1)], () => [], () => [element(2)]],
  })
  expect(await take(2)).toEqual([1, 2])
  expect(opened.length).toBe(1)
  expect(pagesRead.map(({ query }) => query)).toEqual(
    Array(3).fill({ limit: 1, stream_idle_timeout_ms: 5000 }),
  )
})

it('by pages wait for one update only, because a page on a busy ledger would never end', async () => {
  const { take, pagesRead } = world({
    ledgerEnd: 9,
    pages: [() => [element(1), element(2)], () => [], () => [element(12)]],
  })
  expect(await take(3)).toEqual([1, 2, 12])
  expect(pagesRead.map(({ query, body }) => ({ query, ...membersOf(body) }))).toMatchObject([
    { query: { limit: 100 }, beginExclusive: 0, endInclusive: 9 },
    { query: { limit: 100 }, beginExclusive: 2, endInclusive: 9 },
    { query: { limit: 1, stream_idle_timeout_ms: 5000 }, beginExclusive: 9 },
  ])
  for (const { query } of pagesRead.slice(0, 2))
    expect(query).not.toHaveProperty('stream_idle_timeout_ms')
})

it('come by pages if the platform has no WebSocket', async () => {
  const { take } = world({
    ledgerEnd: 9,
    pages: [() => [element(1), element(2)], () => [element(7)]],
  })
  expect(await take(99, { follow: false, pageSize: 2 })).toEqual([1, 2, 7])
})

it('end with the error of the page if the server refuses the socket', async () => {
  const denied = new QuorumscanError('no', {
    code: 'PERMISSION_DENIED',
    definite: true,
    retryable: false,
  })
  const { take } = world({
    serve: [(server) => server.close()],
    pages: [
      () => {
        throw denied
      },
    ],
  })
  await expect(take(1)).rejects.toBe(denied)
})

it('end with a permanent error of the server', async () => {
  const { take } = world({
    serve: [
      (server) => {
        server.open()
        server.send(refusal('PARTICIPANT_PRUNED_DATA_ACCESSED', null))
      },
    ],
  })
  await expect(take(1)).rejects.toMatchObject({
    code: 'PARTICIPANT_PRUNED_DATA_ACCESSED',
    message: 'no: PARTICIPANT_PRUNED_DATA_ACCESSED',
    retryable: false,
  })
})

it('continue with a new token when the old one expires', async () => {
  const { take, opened } = world({
    tokens: ['t-1', 't-2'],
    serve: [
      (server) => {
        server.open()
        server.send(element(1), refusal('ACCESS_TOKEN_EXPIRED', '1 second'))
      },
      (server) => {
        server.open()
        server.send(element(2))
      },
    ],
  })
  expect(await take(2)).toEqual([1, 2])
  expect(opened.map(({ protocols }) => protocols[1])).toEqual(['jwt.token.t-1', 'jwt.token.t-2'])
})

it('are bounded in memory for a slow consumer', async () => {
  const many = Array.from({ length: 5000 }, (_, index) => element(index + 1))
  const { take, opened } = world({
    serve: [
      (server) => {
        server.open()
        server.send(...many)
      },
      (server) => {
        server.open()
        server.send(...many.slice(server.request().beginExclusive))
      },
    ],
  })
  expect(await take(1500)).toEqual(Array.from({ length: 1500 }, (_, index) => index + 1))
  expect(opened[1]?.request().beginExclusive).toBe(1000)
})

/** A `localStorage` in memory. */
function createWebStorage(): WebStorage {
  const values = new Map<string, string>()
  return {
    getItem: (key) => values.get(key) ?? null,
    setItem: (key, value) => {
      values.set(key, value)
    },
  }
}

it.each([
  ['memory', () => createMemoryStore()],
  ['localStorage', () => createLocalStorageStore(createWebStorage())],
])(
  'continue from the checkpoint in %s, which has the processed position',
  async (_, createStore) => {
    const checkpoint = { store: createStore(), key: 'updates' }
    const { take, opened } = world({
      serve: Array(2).fill((server: ServerSide) => {
        server.open()
        server.send(...[1, 2, 3].filter((n) => n > server.request().beginExclusive).map(element))
      }),
    })
    expect(await take(2, { checkpoint })).toEqual([1, 2])
    expect(await checkpoint.store.get('updates')).toBe('1')
    expect(await take(2, { checkpoint })).toEqual([2, 3])
    expect(opened[1]?.request().beginExclusive).toBe(1)
  },
)

it('end when the signal aborts, with its reason', async () => {
  const abort = new AbortController()
  const { updates } = world({
    serve: [
      (server) => {
        server.open()
        server.send(element(1))
      },
    ],
  })
  const following = (async () => {
    for await (const _ of updates({ parties: [ALICE], signal: abort.signal }))
      abort.abort(new Error('enough'))
  })()
  await expect(following).rejects.toThrow(/^enough$/)
})

it('end after three consecutive failures without `follow`', async () => {
  const { take, opened } = world({
    ledgerEnd: 9,
    serve: Array(9).fill((server: ServerSide) => {
      server.open()
      server.close(1006)
    }),
  })
  await expect(take(1, { follow: false })).rejects.toMatchObject({
    code: 'NETWORK_ERROR',
    definite: true,
    retryable: true,
  })
  expect(opened.length).toBe(3)
})

const NOT_IN_ORDER = { code: 'INVALID_RESPONSE', retryable: false }

it.each([
  ['repeats an update', [element(1), element(1)]],
  ['goes back', [element(3), element(2)]],
  ['begins before its beginning', [element(0)]],
  ['has a checkpoint that goes back', [element(3), silent(2)]],
])('end with an error if a page or a socket %s', async (_, frames) => {
  const pages = world({ ledgerEnd: 9, pages: [() => frames] })
  await expect(pages.take(9)).rejects.toMatchObject(NOT_IN_ORDER)
  const sockets = world({
    serve: [
      (server) => {
        server.open()
        server.send(...frames)
      },
    ],
  })
  await expect(sockets.take(9)).rejects.toMatchObject(NOT_IN_ORDER)
  expect(sockets.opened.length).toBe(1)
})

it('may follow a checkpoint with the offset of the update before', async () => {
  const { take } = world({
    serve: [
      (server) => {
        server.open()
        server.send(element(3), silent(3), element(4))
      },
    ],
  })
  expect(await take(2)).toEqual([3, 4])
})

describe('a search', () => {
  const PAGE = 200
  const page = (after: number) =>
    Array.from({ length: PAGE }, (_, index) => element(after + index + 1))
  const after = ({ body }: HttpRequest): number => Number(membersOf(body)['beginExclusive'])
  const find = (http: Http, end: number, wanted: number | null = null) => {
    const range = { after: 0, end, updateFormat: formatOf([ALICE]), signal: undefined }
    return findUpdate(http, range, (update) =>
      'Transaction' in update && update.Transaction.value.offset === wanted ? wanted : null,
    )
  }

  it('reads pages to the end of the range, or to what it wants', async () => {
    const pages = Array(5).fill((request: HttpRequest) => page(after(request)))
    const all = world({ pages })
    expect(await find(all.http, 3 * PAGE)).toBeNull()
    expect(all.pagesRead.map(after)).toEqual([0, PAGE, 2 * PAGE])
    const some = world({ pages })
    expect(await find(some.http, 5 * PAGE, PAGE + 1)).toBe(PAGE + 1)
    expect(some.pagesRead.map(after)).toEqual([0, PAGE])
    const short = world({ pages: [() => [element(1)]] })
    expect(await find(short.http, 5 * PAGE)).toBeNull()
  })

  it.each([
    ['the same page', 2, () => page(0)],
    ['pages of checkpoints that do not advance', 1, () => Array(PAGE).fill(silent(0))],
    ['two pages in turn', 3, (count: number) => page(count % 2 === 0 ? 0 : PAGE)],
  ])('fails if the validator answers with %s', async (_, count, pageOf) => {
    let read = 0
    const pages = Array(5).fill(() => pageOf(read++))
    const { http, pagesRead } = world({ pages })
    await expect(find(http, Number.MAX_SAFE_INTEGER)).rejects.toMatchObject(NOT_IN_ORDER)
    expect(pagesRead.length).toBe(count)
  })
})

it('need parties or a format, and a valid page size', async () => {
  const { take } = world({})
  await expect(take(1, { parties: [] })).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' })
  await expect(take(1, { pageSize: 201 })).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' })
})
