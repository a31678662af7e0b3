/**
 * What streams deliver equals a slow, obvious projection of the log, however a range is cut.
 *
 * @module-tag rest
 */
import { setImmediate as nextTurn } from 'node:timers/promises'
import { sha256Hex } from '@quorumscan/base'
import { findTemplate, NEWEST_RULES, templates } from '@quorumscan/ledger'
import type { Right } from '@quorumscan/model'
import { growRandomLog } from '@quorumscan/replica/testing'
import { cases, createManualClock, createSeededIntegers, send } from '@quorumscan/testkit'
import { it as base } from '@quorumscan/testkit/fixtures'
import fc from 'fast-check'
import { describe, expect } from 'vitest'
import { WebSocket } from 'ws'
import { formatLedgerInstant } from './instants.ts'
import { stateHandlers } from './state.ts'
import { createStreamGuard } from './stream-guard.ts'
import { type MemoryHistory, startHistory } from './testing/memory-history.ts'
import {
  type PlainFilter,
  type PlainFormat,
  plainProjection,
  toWireFormat,
} from './testing/plain-projection.ts'
import { startUpdateServer } from './testing/update-server.ts'
import { createUpdateFeed, type UpdateFeed } from './update-feed.ts'
import { openUpdates, type UpdatesDeps } from './updates.ts'
import { updatesPageHandler } from './updates-page.ts'

const seed = process.env['SEED'] ?? '7'
const scenario = growRandomLog(seed, cases(150, 1000))
const { ledger } = scenario
const end = ledger.head().offset
const clock = createManualClock()
const everyone: Right[] = [{ kind: 'CanReadAsAnyParty' }]
const caller = { userId: 'reader', rights: everyone }
const network = scenario.network
const it = base
  .extend('history', { scope: 'file' }, async ({ fileResources }) => {
    let cuts = 0
    return fileResources.opened(await startHistory(scenario, { nextCut: () => 1 + (cuts++ % 37) }))
  })
  .extend('feed', { scope: 'file' }, ({ history, fileResources }) => {
    const feed = createUpdateFeed(history.replica)
    fileResources.onClose(() => feed.close())
    return feed
  })
  .extend(
    'deps',
    { scope: 'file' },
    ({ feed, history }): UpdatesDeps => ({
      feed,
      clock,
      synchronizerId: 'sync::1220ab',
      replica: history.replica,
    }),
  )
  .extend(
    'read',
    ({ deps }) =>
      async (
        plain: PlainFormat,
        range: { begin: number; end: number; descending: boolean },
      ): Promise<Wire[]> => {
        const request = {
          beginExclusive: range.begin,
          endInclusive: range.end,
          descendingOrder: range.descending,
          verbose: false,
          updateFormat: toWireFormat(plain),
        }
        const open = await openUpdates(deps)(request as never, caller)
        const found: Wire[] = []
        for await (const elements of open(new AbortController().signal))
          found.push(...elements.map((element) => JSON.parse(element) as Wire))
        return found
      },
  )
  .extend('guard', () => {
    const record = { user: { isDeactivated: false }, rights: everyone }
    const users = { get: async () => record as never, onChange: () => () => {} }
    return createStreamGuard({ users, clock })
  })
  .extend('walk', ({ deps, guard }) => {
    const page = updatesPageHandler({ ...deps, guard })
    /** All pages, until one has no token, or reaches the end without one. */
    return async (body: object): Promise<Page[]> => {
      const pages: Page[] = []
      let pageToken: string | null = ''
      while (pageToken !== null) {
        const bytes = await page({
          body: { ...body, pageToken } as never,
          caller: { ...caller, expiresAt: null },
          signal: new AbortController().signal,
          countRows: () => {},
        })
        const found = JSON.parse(Buffer.from(bytes).toString('utf8')) as Page
        pages.push(found)
        const isAtEnd = !('endOffsetInclusive' in body) && found.highestPageOffsetInclusive === end
        const isOver = isAtEnd && !('descendingOrder' in body && body.descendingOrder === true)
        pageToken = isOver ? null : found.nextPageToken
      }
      return pages
    }
  })
  .extend(
    'local',
    ({ deps }) =>
      (elements: Wire[]): Wire[] =>
        JSON.parse(
          JSON.stringify(elements).replaceAll(network.genesis.synchronizerId, deps.synchronizerId),
        ),
  )

type Page = {
  readonly updates: readonly Wire[]
  readonly lowestPageOffsetExclusive: number
  readonly highestPageOffsetInclusive: number
  readonly nextPageToken: string | null
}

const parties = [
  ...new Set(
    ledger
      .results()
      .flatMap((result) =>
        result.kind === 'accepted'
          ? [
              ...result.completion.actAs,
              ...result.update.allocated.map(({ party }) => party),
              ...result.update.events.flatMap((event) => [...event.signatories]),
            ]
          : [],
      ),
  ),
]
const party = fc.constantFrom(...parties, `unknown::1220${'0'.repeat(64)}`)
const filter: fc.Arbitrary<PlainFilter> = fc.oneof(
  fc.constant({ kind: 'empty' as const }),
  fc.record({ kind: fc.constant('wildcard' as const), blob: fc.boolean() }),
  fc.record({
    kind: fc.constant('template' as const),
    entity: fc.constantFrom(...templates.map(({ entity }) => entity)),
    blob: fc.boolean(),
  }),
  fc.record({ kind: fc.constant('holding' as const), view: fc.boolean(), blob: fc.boolean() }),
)
const filters = fc.array(filter, { maxLength: 4 })
const format: fc.Arbitrary<PlainFormat> = fc
  .record({
    byParty: fc.dictionary(party, filters, { maxKeys: 4 }),
    anyParty: fc.option(filters, { nil: null, freq: 1 }),
    shape: fc.constantFrom(
      'TRANSACTION_SHAPE_ACS_DELTA' as const,
      'TRANSACTION_SHAPE_LEDGER_EFFECTS' as const,
    ),
    topology: fc.option(fc.array(party, { maxLength: 3 }), { nil: null }),
  })
  .filter(({ byParty, anyParty }) => anyParty !== null || Object.keys(byParty).length > 0)

/** In the order of docs/upstream.md §L2.3. */
const CREATED_MEMBERS = [
  'offset',
  'nodeId',
  'contractId',
  'templateId',
  'contractKey',
  'contractKeyHash',
  'createArgument',
  'createdEventBlob',
  'interfaceViews',
  'witnessParties',
  'signatories',
  'observers',
  'createdAt',
  'packageName',
  'representativePackageId',
  'acsDelta',
]

const EVERYTHING: PlainFormat = {
  byParty: {},
  anyParty: [],
  shape: 'TRANSACTION_SHAPE_LEDGER_EFFECTS',
  topology: [],
}

type Wire = Record<string, never>

function expected(plain: PlainFormat): unknown[] {
  return ledger.entries().flatMap(({ offset, recordTime }, index) => {
    const result = ledger.results()[index]
    const update = result && plainProjection({ offset, recordTime, result }, plain)
    return update ? [update] : []
  })
}

/** A wire element in the oracle's terms. */
function delivered(element: Wire): unknown {
  const { Transaction, TopologyTransaction } = element['update'] as unknown as Record<
    string,
    { value: Record<string, never> }
  >
  const value = (Transaction ?? TopologyTransaction)?.value as Record<string, never>
  const events = value['events'] as unknown as Record<string, Record<string, never>>[]
  return {
    offset: value['offset'],
    recordTime: value['recordTime'],
    updateId: value['updateId'],
    commandId: Transaction === undefined ? '' : value['commandId'],
    events: Transaction === undefined ? [] : events.map(toldEvent),
    hosted: Transaction === undefined ? events.map((event) => hostedOf(event)) : [],
  }
}

function hostedOf(event: Record<string, Record<string, never>>): unknown {
  const added = event['event']?.['ParticipantAuthorizationAdded'] as unknown as {
    value: Record<string, unknown>
  }
  expect(added.value['participantId']).toBe(
    `participant::${String(added.value['partyId']).split('::')[1]}`,
  )
  return added.value['partyId']
}

function toldEvent(event: Record<string, Record<string, never>>): unknown {
  const [[kind, value] = ['', {} as Record<string, never>]] = Object.entries(event)
  return {
    kind,
    nodeId: value['nodeId'],
    contractId: value['contractId'],
    witnesses: [...(value['witnessParties'] ?? [])].sort(),
    acsDelta: value['acsDelta'],
    hasBlob: kind === 'CreatedEvent' && value['createdEventBlob'] !== '',
    hasView:
      kind === 'CreatedEvent' && (value['interfaceViews'] as unknown as unknown[]).length > 0,
    isByInterface:
      kind !== 'CreatedEvent' &&
      (value['implementedInterfaces'] as unknown as unknown[]).length > 0,
  }
}

const comparable = (updates: unknown[]) =>
  updates.map((update) => {
    const { recordTime, ...rest } = update as { recordTime: number | string }
    return {
      ...rest,
      recordTime: typeof recordTime === 'number' ? formatLedgerInstant(recordTime) : recordTime,
    }
  })

describe(`a log of ${end} entries from seed ${seed}`, () => {
  it('a stream equals the reference projection for any filter', {
    tags: ['ledger-interface'],
  }, async ({ read }) => {
    await fc.assert(
      fc.asyncProperty(format, async (plain) => {
        const found = await read(plain, { begin: 0, end, descending: false })
        expect(comparable(found.map(delivered))).toEqual(comparable(expected(plain)))
      }),
      { numRuns: cases(30, 300), seed: Number(seed) },
    )
  })

  it('parts of a range, in either direction, add up to the whole', {
    tags: ['ledger-interface'],
  }, async ({ read }) => {
    await fc.assert(
      fc.asyncProperty(
        format,
        fc.array(fc.record({ at: fc.integer({ min: 1, max: end }), down: fc.boolean() }), {
          maxLength: 12,
        }),
        async (plain, cuts) => {
          const whole = await read(plain, { begin: 0, end, descending: false })
          const bounds = [...new Set([...cuts.map(({ at }) => at), end])].sort((a, b) => a - b)
          const pieces: Wire[] = []
          let begin = 0
          for (const [index, bound] of bounds.entries()) {
            const descending = cuts[index % Math.max(cuts.length, 1)]?.down ?? false
            const piece = await read(plain, { begin, end: bound, descending })
            pieces.push(...(descending ? piece.reverse() : piece))
            begin = bound
          }
          expect(pieces).toEqual(whole)
        },
      ),
      { numRuns: cases(10, 100), seed: Number(seed) },
    )
  })

  it('pages of any size, in either direction, adjoin and add up to the whole', {
    tags: ['ledger-interface'],
  }, async ({ read, walk }) => {
    await fc.assert(
      fc.asyncProperty(
        format,
        fc.record({
          bounds: fc.tuple(fc.nat({ max: end }), fc.integer({ min: 1, max: end })),
          isOpen: fc.boolean(),
          descending: fc.boolean(),
          maxPageSize: fc.integer({ min: 1, max: 40 }),
        }),
        async (plain, { bounds, isOpen, descending, maxPageSize }) => {
          const [begin, last] = [Math.min(...bounds), isOpen ? end : Math.max(...bounds)]
          const request = {
            beginOffsetExclusive: begin,
            ...(isOpen ? {} : { endOffsetInclusive: last }),
            descendingOrder: descending,
            maxPageSize,
            updateFormat: toWireFormat(plain),
          }
          const pages = await walk(request)
          const whole = await read(plain, { begin, end: last, descending })
          expect(pages.flatMap(({ updates }) => updates)).toEqual(whole)
          const ranges = pages.map(
            (page) => [page.lowestPageOffsetExclusive, page.highestPageOffsetInclusive] as const,
          )
          const ascending = descending ? ranges.reverse() : ranges
          expect(ascending.at(0)?.[0]).toBe(begin)
          expect(ascending.at(-1)?.[1]).toBe(last)
          for (const [index, [, highest]] of ascending.slice(0, -1).entries())
            expect(ascending[index + 1]?.[0]).toBe(highest)
          for (const { updates } of pages) expect(updates.length).toBeLessThanOrEqual(maxPageSize)
        },
      ),
      { numRuns: cases(20, 200), seed: Number(seed) },
    )
  })

  it('a created event has all members, and its values are those of the contract', async ({
    read,
  }) => {
    const plain: PlainFormat = {
      byParty: {},
      anyParty: [
        { kind: 'wildcard', blob: true },
        { kind: 'holding', view: true, blob: false },
      ],
      shape: 'TRANSACTION_SHAPE_LEDGER_EFFECTS',
      topology: null,
    }
    const found = await read(plain, { begin: 0, end, descending: false })
    const stored = new Map(ledger.contracts().map((contract) => [contract.contractId, contract]))
    let compared = 0
    for (const element of found) {
      const { Transaction } = element['update'] as unknown as Record<
        string,
        { value: { events: Record<string, Record<string, unknown>>[] } }
      >
      for (const { CreatedEvent: created } of Transaction?.value.events ?? []) {
        if (created === undefined) continue
        expect(Object.keys(created)).toEqual(CREATED_MEMBERS)
        // The blob is what the contract id hashes (D-31).
        const blob = Buffer.from(String(created['createdEventBlob']), 'base64')
        expect(`00${sha256Hex(blob)}`).toBe(created['contractId'])
        const contract = stored.get(String(created['contractId']))
        if (contract === undefined) continue
        compared++
        const template = findTemplate(contract.templateId, NEWEST_RULES.version)
        expect(template?.type.decode(created['createArgument'], [])).toEqual(
          template?.type.decode(contract.payload, []),
        )
        expect(created).toMatchObject({
          templateId: contract.templateId,
          packageName: contract.packageName,
          signatories: contract.signatories,
          observers: contract.observers,
          createdAt: formatLedgerInstant(contract.createdAt),
          acsDelta: true,
        })
      }
    }
    expect(compared).toBeGreaterThan(20)
  })
})

const NOTHING: PlainFormat = {
  ...EVERYTHING,
  byParty: { [`nobody::1220${'0'.repeat(64)}`]: [] },
  anyParty: null,
  topology: null,
}

it.for([
  ['that it shows', EVERYTHING],
  ['that it does not show', NOTHING],
] as const)('a page reads the updates %s in pieces', async ([, plain], { feed, deps, guard }) => {
  const updateFormat = toWireFormat(plain)
  const longFeed: UpdateFeed = {
    ...feed,
    async read(range) {
      const portion = await feed.read({ ...range, upTo: end, bytes: 2 ** 22 })
      if (portion.kind === 'pruned') return portion
      const updates = [...portion.updates]
      return { ...portion, updates: Array.from({ length: 10 }, () => updates).flat(), rest: null }
    },
  }
  let turn = 0
  let isOver = false
  const rowsByTurn = new Map<number, number>()
  const reading = updatesPageHandler({ ...deps, guard, feed: longFeed })({
    body: { maxPageSize: 1000, endOffsetInclusive: end, updateFormat } as never,
    caller: { ...caller, expiresAt: null },
    signal: new AbortController().signal,
    countRows: (rows) => rowsByTurn.set(turn, (rowsByTurn.get(turn) ?? 0) + rows),
  }).finally(() => {
    isOver = true
  })
  for (; !isOver; turn++) await nextTurn()
  const characters = (await reading).byteLength
  const rows = [...rowsByTurn.values()]
  expect(rows.reduce((sum, count) => sum + count, 0)).toBeGreaterThan(500)
  expect(Math.max(...rows)).toBeLessThanOrEqual(64)
  // 64 KiB in a turn, and the update that reaches them.
  expect(characters / rows.length).toBeLessThan(128 * 1024)
})

it('a contract is paid for by the events of the update that archived it', async ({
  deps,
  guard,
}) => {
  const operator = network.genesis.dso
  const reads = { ...deps, guard, operator }
  const handlers = stateHandlers({ reads, participantId: '' } as never)
  const ids = ledger
    .results()
    .flatMap((result) =>
      result.kind === 'accepted'
        ? result.update.events.flatMap((event) =>
            event.kind === 'created' ? event.contractId : [],
          )
        : [],
    )
  const wire = toWireFormat(EVERYTHING) as { includeTransactions: { eventFormat: object } }
  const { eventFormat } = wire.includeTransactions
  let archivedCount = 0
  for (const contractId of ids.slice(0, 100)) {
    const archival = await deps.replica.history.archivalOf(contractId)
    if (archival !== null) archivedCount++
    for (const read of [handlers.getContractById, handlers.getEventsByContractId]) {
      let rows = 0
      const countRows = (count: number) => {
        rows += count
      }
      const body = { contractId, queryingParties: [], eventFormat }
      await read({ body, caller, countRows } as never)
      expect(rows).toBe(1 + (archival?.events.length ?? 0))
    }
  }
  expect(archivedCount).toBeGreaterThan(5)
})

it('an open stream has every update once, for any number of portions', async ({ feed, deps }) => {
  const stopping = new AbortController()
  const inPortions: UpdateFeed = {
    ...feed,
    async read(range) {
      const portion = await feed.read(range)
      if (portion.kind === 'pruned') return portion
      const updates = [...portion.updates]
      const last = updates[2]
      if (last === undefined || updates.length === 3) return portion
      return { ...portion, updates: updates.slice(0, 3), rest: { ...range, after: last.offset } }
    },
    // The stream has caught up.
    async waitForEntry() {
      stopping.abort()
    },
  }
  const request = {
    beginExclusive: 0,
    verbose: false,
    descendingOrder: false,
    updateFormat: toWireFormat(EVERYTHING),
  }
  const open = await openUpdates({ ...deps, feed: inPortions })(request as never, caller)
  const found: Wire[] = []
  const read = async () => {
    for await (const elements of open(stopping.signal))
      found.push(...elements.map((element) => JSON.parse(element) as Wire))
  }
  await expect(read()).rejects.toMatchObject({ name: 'AbortError' })
  expect(comparable(found.map(delivered))).toEqual(comparable(expected(EVERYTHING)))
})

it('a stream that pruning overtakes fails like one that begins too early', async ({ deps }) => {
  await using own = await startHistory(scenario)
  // The check of the request reads the pruned offset of the other history, which has none.
  const ownDeps = { ...deps, feed: createUpdateFeed(own.replica) }
  const request = {
    beginExclusive: 0,
    verbose: false,
    descendingOrder: false,
    updateFormat: toWireFormat(EVERYTHING),
  }
  for (const range of [{}, { endInclusive: end }]) {
    const open = await openUpdates(ownDeps)({ ...request, ...range } as never, caller)
    await own.replica.prune(end - 1)
    const stream = open(new AbortController().signal)
    await expect(stream.next()).rejects.toMatchObject({
      code: 'PARTICIPANT_PRUNED_DATA_ACCESSED',
      context: { earliest_offset: String(end - 1) },
    })
  }
  ownDeps.feed.close()
})

describe('over the network', () => {
  const asCaller = { ...caller, expiresAt: null }
  const serverOf = (of: MemoryHistory) =>
    startUpdateServer(of, {
      caller: asCaller,
      genesis: network.genesis,
      genesisHash: network.genesisHash,
    })
  const offsetOf = (element: Wire) =>
    Number(
      (Object.values(element['update'] ?? {})[0] as { value: { offset: number } }).value.offset,
    )

  /** Frames of a stream, until `count` came or it ended; then the connection is dropped without a word. */
  const frames = (url: string, request: object, count = Number.MAX_SAFE_INTEGER): Promise<Wire[]> =>
    new Promise((resolve, reject) => {
      const found: Wire[] = []
      const socket = new WebSocket(`${url.replace('http', 'ws')}/v2/updates`, 'daml.ws.auth')
      socket.on('open', () => socket.send(JSON.stringify(request)))
      socket.on('message', (data) => {
        const frame = JSON.parse(String(data))
        if (frame.update === undefined) reject(new Error(String(data)))
        else if (found.length < count && !('OffsetCheckpoint' in frame.update)) found.push(frame)
        if (found.length === count) socket.terminate()
      })
      socket.on('close', () => resolve(found))
      socket.on('error', reject)
    })

  it('pages of any size over HTTP, and WebSocket, in either direction, deliver the same', {
    tags: ['ledger-interface'],
  }, async ({ history, read, local }) => {
    await using server = await serverOf(history)
    const size = fc.integer({ min: 1, max: 200 })
    await fc.assert(
      fc.asyncProperty(format, size, fc.boolean(), async (plain, limit, descendingOrder) => {
        const wanted = await read(plain, { begin: 0, end, descending: descendingOrder })
        const request = { updateFormat: toWireFormat(plain), descendingOrder }
        const bounded = { ...request, beginExclusive: 0, endInclusive: end }
        expect(local(await frames(server.url, bounded))).toEqual(wanted)
        const pages: Wire[] = []
        for (let range = { beginExclusive: 0, endInclusive: end }; ; ) {
          const url = `${server.url}/v2/updates?limit=${limit}`
          const { body } = await send(url, { method: 'POST', body: { ...request, ...range } })
          const page: Wire[] = body
          pages.push(...page)
          const last = page.at(-1)
          if (page.length < limit || last === undefined) break
          range = descendingOrder
            ? { beginExclusive: 0, endInclusive: offsetOf(last) - 1 }
            : { beginExclusive: offsetOf(last), endInclusive: end }
          if (range.endInclusive <= range.beginExclusive) break
        }
        expect(local(pages)).toEqual(wanted)
      }),
      { numRuns: cases(12, 100), seed: Number(seed) },
    )
  })

  it('resuming after dropped connections, while the log grows, loses and repeats nothing', async ({
    read,
    local,
  }) => {
    const plain = EVERYTHING
    const wanted = await read(plain, { begin: 0, end, descending: false })
    const first = Math.floor(end / 3)
    await using growing = await startHistory(scenario, { first, nextCut: () => 5 })
    await using server = await serverOf(growing)
    const next = createSeededIntegers(seed)
    const found: Wire[] = []
    let pushed = first
    while (found.length < wanted.length) {
      const more = pushed + next(20)
      growing.ordering.push(ledger.entries().slice(pushed, more))
      pushed = Math.min(more, end)
      const beginExclusive = found.length === 0 ? 0 : offsetOf(found.at(-1) as Wire)
      const known = wanted.filter((element) => offsetOf(element) <= pushed).length - found.length
      if (known === 0) continue
      const request = { beginExclusive, updateFormat: toWireFormat(plain) }
      found.push(...(await frames(server.url, request, 1 + next(known))))
    }
    expect(local(found)).toEqual(wanted)
  })
})
