/**
 * The SDK as a wallet uses it, on real processes that its `/testing` starts: lookups at the nodes and through the
 * proxy, registrations, coin, streams, and outcomes when nodes are unreachable.
 */
import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { closeSync, existsSync, openSync, readdirSync, readFileSync } from 'node:fs'
import { readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import {
  createMemoryStore,
  createScan,
  createValidator,
  type Invalid,
  type LookupOutcome,
  type NameChange,
  parseContractId,
  type RegisterProgress,
  toDate,
  type Validator,
} from '@quorumscan/sdk'
import { createFileStore } from '@quorumscan/sdk/node'
import { createScanClient } from '@quorumscan/sdk/raw'
import { verifyReceipt } from '@quorumscan/sdk/receipts'
import { startCluster } from '@quorumscan/sdk/testing'
import { required, until } from '@quorumscan/testkit'
import { it as base } from '@quorumscan/testkit/fixtures'
import { formatInstant } from '@quorumscan/verifier'
import { build } from 'esbuild'
import { WebSocket } from 'undici'
import { describe, expect } from 'vitest'
import { clock } from './client.ts'

const it = base
  .extend('cluster', { scope: 'file' }, async ({ fileResources }) => {
    required('redis')
    const entryLifetimeMicros = 90 * DAY_MICROS
    const renewalDurationMicros = entryLifetimeMicros - WINDOW_AFTER_MICROS
    const cluster = await startCluster({
      nodes: 4,
      genesisOverrides: { names: { entryLifetimeMicros, renewalDurationMicros } },
    })
    fileResources.onClose(() => cluster.down())
    return cluster
  })
  .extend('genesis', { scope: 'file' }, ({ cluster }) => cluster.genesis)
  .extend('scan', { scope: 'file' }, ({ cluster, fileResources }) => {
    const scan = cluster.scan()
    fileResources.onClose(() => scan.close())
    return scan
  })
  .extend(
    'seeds',
    { scope: 'file' },
    ({ cluster }) =>
      () =>
        cluster.seeds,
  )
  .extend(
    'userOf',
    { scope: 'file' },
    ({ cluster }) =>
      (user: string): Validator =>
        cluster.validator(user),
  )
  .extend(
    'withCoin',
    { scope: 'file' },
    ({ userOf }) =>
      async (user: string): Promise<Validator> => {
        const validator = userOf(user)
        await validator.wallet.register()
        await validator.wallet.tap({ amount: '10.0' })
        return validator
      },
  )
  /** Restarts all nodes that are down, and waits until all vote. */
  .extend('restartAll', { scope: 'file' }, ({ cluster, scan }) => async (): Promise<void> => {
    const { nodes } = await cluster.status()
    const down = nodes.filter(({ state }) => state === 'down')
    await Promise.all(down.map(({ name }) => cluster.restart(name)))
    await until('all four nodes to vote', async () => {
      const outcome = await scan.names.lookup(ALICE, { threshold: 'all', receipt: false })
      return outcome.kind === 'verified' ? true : undefined
    })
  })
  .extend('pinned', { scope: 'file' }, ({ seeds, cluster }) => () => ({
    SEED: seeds()[0] ?? '',
    GENESIS_HASH: cluster.genesisHash,
  }))
  .extend('surfaces', { scope: 'file' }, ({ scan, userOf, cluster, genesis }) => ({
    'at the nodes': scan.names,
    'through the proxy': userOf('reader').names,
    'through the proxy with local verification': createValidator({
      url: cluster.validatorUrl,
      genesis,
    }).names,
  }))
  .extend('alice', { scope: 'file' }, ({ withCoin }) => withCoin('alice'))
  .extend('party', { scope: 'file' }, async ({ alice }) => (await alice.wallet.status()).partyId)
  /** Of the name of alice, which every test needs; and what was reported on the way. */
  .extend('registered', { scope: 'file', auto: true }, async ({ alice }) => {
    const events: RegisterProgress[] = []
    const registration = await alice.names.register(
      { name: ALICE, url: 'https://example.org', description: 'me' },
      { onProgress: (event) => events.push(event) },
    )
    return { events, registration }
  })
  .extend('events', { scope: 'file' }, ({ registered }) => registered.events)
  .extend('registration', { scope: 'file' }, ({ registered }) => registered.registration)
const ALICE = 'alice.unverified.ns'
const MISSING = 'missing.unverified.ns'

const DAY_MICROS = 86_400_000_000
/** How long after its registration a name can be renewed here. */
const WINDOW_AFTER_MICROS = 30_000_000

/** Null if the absence is proven. */
const partyOf = (outcome: LookupOutcome | Invalid) =>
  'entry' in outcome && outcome.kind !== 'invalid' ? (outcome.entry?.party ?? null) : outcome.kind

describe('a registration', () => {
  it('requests, pays for and returns a name that lookups verify', async ({
    registration,
    party,
    scan,
    events,
    alice,
  }) => {
    const { entry, offset, ...rest } = registration
    expect(rest).toEqual({ name: ALICE, party, autoRenew: false, wasOwned: false })
    expect(entry).toMatchObject({ url: 'https://example.org', description: 'me', party })
    expect(await scan.names.lookup(ALICE, { minOffset: offset })).toMatchObject({ entry })
    expect(events.map(({ step, isResumed }) => [step, isResumed])).toEqual([
      ['requested', false],
      ['paid', false],
      ['active', false],
    ])
    expect(await alice.names.list()).toMatchObject([{ name: ALICE, unit: 'USDUnit' }])
  })

  it('of a name that the user owns pays nothing', async ({ alice, registration }) => {
    const before = await alice.wallet.balance()
    const { entry } = registration
    expect(await alice.names.register({ name: 'Alice' })).toMatchObject({ wasOwned: true, entry })
    await expect(
      alice.names.register({ name: ALICE, url: 'https://other.example' }),
    ).rejects.toMatchObject({
      code: 'REGISTRATION_DIFFERS',
      payment: 'paid',
      details: { effective: { url: 'https://example.org', description: 'me' } },
    })
    expect(await alice.wallet.balance()).toEqual(before)
  })

  it('continues after a crash between request and payment, and pays once', async ({ withCoin }) => {
    const bob = await withCoin('bob')
    const name = 'bob.unverified.ns'
    const crash = new AbortController()
    const first = bob.names.register(
      { name },
      { signal: crash.signal, onProgress: () => crash.abort(new Error('crash')) },
    )
    await expect(first).rejects.toThrow('crash')
    const other = new AbortController()
    const changed: RegisterProgress[] = []
    const second = bob.names.register(
      { name, url: 'https://bob.example' },
      {
        signal: other.signal,
        onProgress(event) {
          changed.push(event)
          other.abort(new Error('crash'))
        },
      },
    )
    await expect(second).rejects.toThrow('crash')
    // An unpaid request that differs is rejected and replaced.
    expect(changed).toMatchObject([{ step: 'requested', isResumed: false }])
    expect(await bob.wallet.subscriptionRequests()).toHaveLength(1)
    const resumed: RegisterProgress[] = []
    const { entry } = await bob.names.register(
      { name, url: 'https://bob.example' },
      { onProgress: (event) => resumed.push(event) },
    )
    expect(entry).toMatchObject({ url: 'https://bob.example', description: '' })
    expect(resumed.map(({ step }) => step)).toEqual(expect.arrayContaining(['paid', 'active']))
    expect(resumed[0]).toMatchObject({ isResumed: true })
    // Ten dollars at 0.005 a coin, and one dollar for one name.
    expect(await bob.wallet.balance()).toMatchObject({ effectiveUnlockedQty: '1800.0000000000' })
  })

  it("of another user's name fails with NAME_TAKEN and payment not-paid", async ({
    withCoin,
    userOf,
  }) => {
    const carol = await withCoin('carol')
    await expect(carol.names.register({ name: ALICE })).rejects.toMatchObject({
      code: 'NAME_TAKEN',
      definite: true,
      payment: 'not-paid',
    })
    const poor = userOf('dave')
    await poor.wallet.register()
    await expect(poor.names.register({ name: 'dave.unverified.ns' })).rejects.toMatchObject({
      code: 'INSUFFICIENT_FUNDS',
      payment: 'not-paid',
    })
  })

  it('is not charged for an early renewal, and keeps its name until expiry after a cancellation', async ({
    withCoin,
  }) => {
    const erin = await withCoin('erin')
    await erin.names.register({ name: 'erin.unverified.ns' })
    const [before] = await erin.names.list()
    expect(await erin.names.renew('erin')).toMatchObject({ wasPaid: true })
    expect(await erin.names.list()).toEqual([before])
    await erin.names.cancel('erin.unverified.ns')
    expect(await erin.names.list()).toEqual([])
    expect(await erin.names.resolve('erin.unverified.ns')).not.toBeNull()
    // The name is erin's until it expires, so a second call changes nothing.
    expect(await erin.names.cancel('erin.unverified.ns')).toEqual({ offset: expect.any(Number) })
    await expect(erin.names.cancel('missing.unverified.ns')).rejects.toMatchObject({
      code: 'CONTRACT_NOT_FOUND',
    })
  })
})

describe.each([
  'at the nodes',
  'through the proxy',
  'through the proxy with local verification',
] as const)('lookups %s', (surface) => {
  it('find a name and its party, and return null for others', async ({
    surfaces,
    party,
    genesis,
  }) => {
    expect(await surfaces[surface].resolve(ALICE)).toBe(party)
    expect(await surfaces[surface].resolve(MISSING)).toBeNull()
    expect(await surfaces[surface].reverse(party)).toMatchObject({ name: ALICE, changed: null })
    expect(await surfaces[surface].reverse(`x${party}`)).toBeNull()
    expect(await surfaces[surface].isAvailable(MISSING)).toBe(true)
    for (const typed of [ALICE, ' Alice'])
      expect(await surfaces[surface].isAvailable(typed)).toBe(false)
    const many = await surfaces[surface].resolveMany([
      MISSING,
      'Alice',
      'dso.ns',
      'not a name',
      ALICE,
    ])
    expect(many.map(partyOf)).toEqual([null, party, genesis.dso, 'invalid', party])
    const back = await surfaces[surface].reverseMany([party, `x${party}`, genesis.dso])
    expect(back.map((outcome) => 'entry' in outcome && outcome.entry?.name)).toEqual([
      ALICE,
      undefined,
      'dso.ns',
    ])
  })

  it('of more names than one request holds return outcomes in order', async ({
    surfaces,
    party,
  }) => {
    const many = Array.from({ length: 300 }, (_, index) => (index % 100 === 99 ? ALICE : MISSING))
    const outcomes = await surfaces[surface].resolveMany(many)
    expect(outcomes.map(partyOf)).toEqual(many.map((name) => (name === ALICE ? party : null)))
  })

  it('respect the minimum offset, maximum age, threshold and signal of the caller', async ({
    surfaces,
  }) => {
    // Repeats while too few nodes answer.
    const untilLagging = (what: string, bounds: { minOffset?: number; maxAgeMs?: number }) =>
      until(what, async () => {
        const outcome = await surfaces[surface].lookup(ALICE, { ...bounds, receipt: false })
        if (outcome.kind === 'insufficient') return undefined
        if (outcome.kind === 'lagging') return outcome
        expect.unreachable(`${what}, not ${outcome.kind}`)
      })
    const [ahead, stale] = await Promise.all([
      untilLagging('an offset that no node has to be lagging', { minOffset: 10 ** 9 }),
      untilLagging('an answer that is too old to be lagging', { maxAgeMs: 0 }),
    ])
    expect(ahead.reason).toBe('floor')
    expect(stale.reason).toBe('stale')
    await expect(surfaces[surface].resolve(ALICE, { threshold: 5 })).rejects.toMatchObject({
      code: expect.stringMatching(/^INVALID_/),
      definite: true,
    })
    const signal = AbortSignal.abort(new Error('left the page'))
    await expect(surfaces[surface].resolve(ALICE, { signal })).rejects.toThrow(/^left the page$/)
  })

  it('refuse a name with a wrong suffix or character without a request', async ({ surfaces }) => {
    await expect(surfaces[surface].isAvailable('alice.sv.ns')).rejects.toMatchObject({
      code: 'NAME_SUFFIX_MISSING',
    })
    await expect(surfaces[surface].isAvailable('Al!ice.unverified.ns')).rejects.toMatchObject({
      code: 'INVALID_NAME',
    })
  })

  it('come with a receipt that proves them', async ({ surfaces, cluster, genesis }) => {
    for (const name of [ALICE, MISSING]) {
      const outcome = await surfaces[surface].lookup(name, { threshold: 'strong' })
      if (outcome.kind !== 'verified' && outcome.kind !== 'verified-absent')
        throw new Error(outcome.kind)
      const pinned = { genesis: cluster.genesisHash, documents: [genesis] }
      const proven = await verifyReceipt(outcome.receipt, { ...pinned, name, threshold: 3 })
      expect(proven.entry).toEqual(outcome.entry)
      expect(proven.recordTime).toBe(outcome.recordTime)
      expect(outcome.agreed.length).toBeGreaterThanOrEqual(3)
    }
  })

  it('have the outcome mismatch if the party is not the expected one', async ({
    surfaces,
    genesis,
    party,
  }) => {
    expect(await surfaces[surface].lookup(ALICE, { expectParty: genesis.dso })).toMatchObject({
      kind: 'mismatch',
      entry: { party },
      expectedParty: genesis.dso,
    })
  })

  it('by prefix return all pages in order', async ({ surfaces }) => {
    const found: string[] = []
    for await (const entry of surfaces[surface].search('', { pageSize: 2 })) found.push(entry.name)
    expect(found).toEqual([...found].sort())
    expect(found).toEqual(expect.arrayContaining([ALICE, 'dso.ns', 'sv-1.sv.ns', 'sv-4.sv.ns']))
  })
})

describe('with unreachable nodes', () => {
  it.afterEach(({ restartAll }) => restartAll())

  it('lookups continue with one down, and return lagging or insufficient with three down', async ({
    cluster,
    userOf,
    scan,
    party,
  }) => {
    await cluster.kill('sv-1')
    const { names } = userOf('reader')
    for (const reader of [scan.names, names]) expect(await reader.resolve(ALICE)).toBe(party)
    await Promise.all([cluster.kill('sv-2'), cluster.kill('sv-3')])
    // The last state that the nodes signed is proven until it is too old.
    for (const reader of [scan.names, names])
      await until('the last state to be too old', async () => {
        const outcome = await reader.lookup(ALICE, { maxAgeMs: 3000 })
        if ('entry' in outcome) expect(outcome.entry?.party).toBe(party)
        return outcome.kind === 'lagging' || outcome.kind === 'insufficient' ? true : undefined
      })
  })
})

describe('the store', () => {
  it('makes lookups report a changed owner until the change is accepted', async ({
    seeds,
    genesis,
    party,
  }) => {
    const store = createMemoryStore()
    const changes: NameChange[] = []
    await using first = createScan({ seeds: seeds(), genesis, store })
    await first.names.acceptChange(ALICE, genesis.dso)
    await using second = createScan({
      seeds: seeds(),
      genesis,
      store,
      onChanged: (change) => changes.push(change),
    })
    const change = { name: ALICE, previousParty: genesis.dso, party }
    expect(await second.names.lookup(ALICE)).toMatchObject({ kind: 'verified', changed: change })
    await expect(second.names.resolve(ALICE)).rejects.toMatchObject({
      code: 'NAME_CHANGED',
      details: change,
    })
    expect(await second.names.resolveMany([ALICE])).toMatchObject([{ changed: change }])
    expect(await second.names.reverse(party)).toMatchObject({ name: ALICE, changed: change })
    for await (const entry of second.names.search('alice'))
      expect(entry).toMatchObject({ name: ALICE, changed: change })
    expect(changes).toHaveLength(5)
    const acceptChange = ({ party: now }: NameChange) => now === party
    expect(await second.names.resolve(ALICE, { acceptChange })).toBe(party)
    expect(await second.names.resolve(ALICE)).toBe(party)
    expect(await second.names.lookup(ALICE)).toMatchObject({ changed: null })
  })

  it('in a file keeps floor and addresses, so that the seeds may be down', async ({
    seeds,
    genesis,
    party,
  }) => {
    const path = join(tmpdir(), `qs-store-${crypto.randomUUID()}.json`)
    try {
      await using before = createScan({ seeds: seeds(), genesis, store: createFileStore(path) })
      await before.names.resolve(ALICE)
      await until('the addresses to be stored', async () =>
        (await readFile(path, 'utf8')).includes('addresses') ? true : undefined,
      )
      await using after = createScan({
        seeds: ['http://127.0.0.1:9'],
        genesis,
        store: createFileStore(path),
      })
      expect(await after.names.resolve(ALICE)).toBe(party)
      expect(after.status()?.floor).toBeGreaterThan(0)
    } finally {
      await rm(path, { force: true })
    }
  })
})

it('a client can pin the genesis by its hash, and refuses another network', async ({
  cluster,
  seeds,
  party,
}) => {
  const genesisHash = cluster.genesisHash
  await using pinned = createScan({ seeds: seeds(), genesis: genesisHash })
  expect(await pinned.names.resolve(ALICE)).toBe(party)
  const other = 'ab'.repeat(32)
  for (const wrong of [
    createScan({ seeds: seeds(), genesis: other }),
    createValidator({ url: cluster.validatorUrl, genesis: other }),
  ])
    await expect(wrong.names.resolve(ALICE)).rejects.toMatchObject({
      code: 'WRONG_GENESIS',
      retryable: false,
    })
  const noNode = createScan({ seeds: [`${cluster.validatorUrl}/nowhere`], genesis: other })
  await expect(noNode.names.resolve(ALICE)).rejects.toMatchObject({
    code: 'INVALID_RESPONSE',
    message: expect.stringContaining('is not a scan node'),
  })
  const offline = createScan({ seeds: ['http://127.0.0.1:9'], genesis: other })
  await expect(offline.names.resolve(ALICE)).rejects.toMatchObject({
    code: 'NETWORK_ERROR',
    retryable: true,
  })
})

it('a closed client fails with CLOSED', async ({ cluster, party }) => {
  const closed = cluster.scan()
  expect(await closed.names.resolve(ALICE)).toBe(party)
  await closed.close()
  await expect(closed.names.resolve(ALICE)).rejects.toMatchObject({
    code: 'CLOSED',
    definite: true,
  })
})

describe('a wallet', () => {
  const TRANSFER = { amount: '5.0', description: 'lunch' } as const
  const inAnHour = () => formatInstant(clock.nowMicros() + 3_600_000_000)

  it('creates transfers, which the receiver accepts or rejects or the sender withdraws', async ({
    withCoin,
  }) => {
    const [gina, hugo] = [await withCoin('gina'), await withCoin('hugo')]
    const receiver = (await hugo.wallet.status()).partyId
    const createTransfer = async (trackingId: string) => {
      const terms = { ...TRANSFER, receiver, trackingId, expiresAt: inAnHour() }
      const { output } = await gina.wallet.createTransfer(terms)
      if (!('transferInstructionCid' in output)) throw new Error('not a pending transfer')
      return output.transferInstructionCid
    }
    const before = Number((await hugo.wallet.balance()).effectiveUnlockedQty)
    const accepted = await createTransfer('t-1')
    expect(await hugo.wallet.transfers()).toMatchObject([{ contractId: accepted }])
    await hugo.wallet.acceptTransfer(accepted)
    await hugo.wallet.rejectTransfer(await createTransfer('t-2'))
    await gina.wallet.withdrawTransfer(await createTransfer('t-3'))
    expect(await hugo.wallet.transfers()).toEqual([])
    expect(Number((await hugo.wallet.balance()).effectiveUnlockedQty)).toBe(before + 5)
    expect((await hugo.wallet.coins()).coins.length).toBeGreaterThan(1)
    const kinds: string[] = []
    for await (const item of gina.wallet.transactions({ pageSize: 2 }))
      kinds.push(item.transactionType)
    expect(kinds).toContain('transfer')
    // The same payment cannot be made twice.
    await expect(createTransfer('t-1')).rejects.toMatchObject({ definite: true })
  })

  it('executes a tap with one command id once, and rejects a subscription request', async ({
    withCoin,
  }) => {
    const ivan = await withCoin('ivan')
    const before = await ivan.wallet.balance()
    await ivan.wallet.tap({ amount: '1.0', commandId: 'once' })
    await ivan.wallet.tap({ amount: '1.0', commandId: 'once' }).catch(() => {})
    const after = await ivan.wallet.balance()
    expect(Number(after.effectiveUnlockedQty) - Number(before.effectiveUnlockedQty)).toBe(200)
    const crash = new AbortController()
    const attempt = ivan.names.register(
      { name: 'ivan.unverified.ns' },
      { signal: crash.signal, onProgress: () => crash.abort(new Error('crash')) },
    )
    await expect(attempt).rejects.toThrow('crash')
    const [request] = await ivan.wallet.subscriptionRequests()
    const contractId = parseContractId(request?.contractId ?? 'none')
    expect(await ivan.wallet.subscriptionRequest(contractId)).toEqual(request)
    await ivan.wallet.rejectSubscriptionRequest(contractId)
    expect(await ivan.wallet.subscriptionRequests()).toEqual([])
  })

  it('turns automatic renewals on and off', async ({ withCoin }) => {
    // A separate name, because an automatic renewal may pay for it while they are on.
    const nina = await withCoin('nina')
    await nina.names.register({ name: 'nina.unverified.ns' })
    const [subscription] = await nina.wallet.subscriptions()
    const id = parseContractId(subscription?.subscription.contractId ?? 'none')
    const isOn = async () => (await nina.wallet.subscriptions())[0]?.autoRenew
    expect(await isOn()).toBe(false)
    await nina.wallet.setAutoRenew(id, true)
    expect(await isOn()).toBe(true)
    await nina.wallet.setAutoRenew(id, false)
    expect(await isOn()).toBe(false)
  })
})

it('activities yield each row once, in order, and continue from the checkpoint', async ({
  scan,
  alice,
}) => {
  const checkpoint = { store: createMemoryStore(), key: 'activities' }
  const all: string[] = []
  for await (const row of scan.activities({ pageSize: 3 })) all.push(row.eventId)
  expect(all).toEqual([...new Set(all)].sort())
  const first: string[] = []
  for await (const row of alice.activities({ pageSize: 2, checkpoint })) {
    first.push(row.eventId)
    if (first.length === 3) break
  }
  const rest: string[] = []
  for await (const row of scan.activities({ pageSize: 2, checkpoint })) rest.push(row.eventId)
  // The row at which the loop ended counts as not processed.
  expect([...first.slice(0, 2), ...rest]).toEqual(all)
})

it('activities are read when a WebSocket announces them, and once each after it is lost', async ({
  scan,
  alice,
  cluster,
  genesis,
}) => {
  let after = ''
  for await (const row of scan.activities({ order: 'desc', pageSize: 1 })) {
    after = row.eventId
    break
  }
  const sockets: WebSocket[] = []
  class WatchedSocket extends WebSocket {
    constructor(url: string, protocols: string[]) {
      super(url, protocols)
      sockets.push(this)
      // Each message causes the next row, so that the socket and not a poll announces it.
      this.addEventListener('message', () => alice.wallet.tap({ amount: '1.0' }).catch(() => {}))
    }
  }
  const { activities } = cluster.validator('alice', {
    genesis,
    WebSocket: WatchedSocket,
  })
  const seen: string[] = []
  await alice.wallet.tap({ amount: '1.0' })
  // The interval is longer than the test, so that no client polls.
  const options = {
    after,
    follow: true,
    pageSize: 2,
    threshold: 'strong',
    pollMs: 600_000,
  } as const
  for await (const row of activities(options)) {
    seen.push(row.eventId)
    if (seen.length === 4) break
    if (seen.length === 2) sockets[0]?.close()
  }
  expect(sockets.length).toBeGreaterThan(0)
  const known: string[] = []
  for await (const row of scan.activities({ after })) known.push(row.eventId)
  expect(seen).toEqual(known.slice(0, 4))
})

describe.each([
  ['over WebSocket', WebSocket],
  ['by pages', null],
])('updates %s', (_, socket) => {
  /** Fails a request for a page, because updates must arrive over the WebSocket. */
  const noPages: typeof fetch = async (input, init) => {
    if (String(input).includes('/v2/updates')) throw new Error('unexpected request for a page')
    return fetch(input, init)
  }

  it('yield each offset once, continue from the checkpoint, and end if they do not follow', async ({
    cluster,
    party,
    alice,
  }) => {
    const checkpoint = { store: createMemoryStore(), key: 'updates' }
    const offsets: number[] = []
    const { updates } = cluster.validator('alice', {
      url: `${cluster.validatorUrl}/api/validator`,
      WebSocket: socket,
      ...(socket === null ? {} : { fetch: noPages }),
    })
    for await (const update of updates({ parties: [party], follow: false, checkpoint }))
      offsets.push(update.offset)
    expect(offsets.length).toBeGreaterThan(2)
    expect(offsets).toEqual([...new Set(offsets)].sort((a, b) => a - b))
    await alice.wallet.tap({ amount: '1.0' })
    for await (const update of updates({ parties: [party], checkpoint })) {
      expect(update).toMatchObject({ kind: 'transaction' })
      expect(update.offset).toBeGreaterThan(offsets.at(-1) ?? 0)
      break
    }
  })

  it('of a party without read rights are refused', async ({ cluster, party }) => {
    const stranger = cluster.validator('stranger', { WebSocket: socket })
    const following = async () => {
      for await (const update of stranger.updates({ parties: [party] })) return update
      return undefined
    }
    await expect(following()).rejects.toMatchObject({ definite: true, retryable: false })
  })
})

it('updates continue after the validator is killed and restarted', async ({
  cluster,
  party,
  alice,
}) => {
  const overWebSocket = cluster.validator('alice', { WebSocket })
  const seen: number[] = []
  let before = 0
  for await (const update of overWebSocket.updates({ parties: [party], follow: false }))
    before = update.offset
  for await (const update of overWebSocket.updates({ parties: [party], after: before - 1 })) {
    seen.push(update.offset)
    if (seen.length === 2) break
    await cluster.kill('validator')
    await cluster.restart('validator')
    await alice.wallet.tap({ amount: '1.0' })
  }
  expect(seen[0]).toBe(before)
  expect(seen[1]).toBeGreaterThan(before)
})

describe('commands', () => {
  it('executes a command once, and reports a duplicate', async ({
    seeds,
    party,
    genesis,
    alice,
  }) => {
    const rules = await createScanClient({ baseUrl: seeds()[0] ?? '' }).POST('/v0/ans-rules', {
      body: {},
    })
    const contract = rules.data?.ans_rules_update.contract
    const submission = {
      commandId: 'once',
      actAs: [party],
      commands: [
        {
          ExerciseCommand: {
            templateId: contract?.template_id ?? '',
            contractId: contract?.contract_id ?? '',
            choice: 'AnsRules_RequestEntry',
            choiceArgument: {
              name: 'once.unverified.ns',
              url: '',
              description: '',
              user: party,
            },
          },
        },
      ],
      disclosedContracts: [
        {
          createdEventBlob: contract?.created_event_blob ?? '',
          templateId: contract?.template_id ?? '',
          contractId: contract?.contract_id ?? '',
          synchronizerId: genesis.synchronizerId,
        },
      ],
    }
    const undisclosed = { ...submission, commandId: 'undisclosed', disclosedContracts: [] }
    expect(await alice.commands.submit(undisclosed)).toMatchObject({
      kind: 'rejected',
      error: { code: 'CONTRACT_NOT_FOUND', definite: true },
    })
    const first = await alice.commands.submit(submission)
    expect(first).toMatchObject({ kind: 'committed', commandId: 'once', wasDuplicate: false })
    expect(await alice.commands.submit(submission)).toMatchObject({
      kind: 'committed',
      offset: first.kind === 'committed' ? first.offset : null,
      wasDuplicate: true,
    })
    const wrong = { ...submission, commandId: 'wrong', actAs: [genesis.dso] }
    expect(await alice.commands.submit(wrong)).toMatchObject({
      kind: 'rejected',
      error: { definite: true },
    })
  })
})

describe('the examples of the README run unchanged:', () => {
  const sdk = join(import.meta.dirname, '../../sdk')

  /** Runs an example against the built package, without its types. */
  async function example(name: string, env: Record<string, string> = {}): Promise<string> {
    const outfile = join(sdk, 'examples', `${name}.${crypto.randomUUID()}.mjs`)
    try {
      const entryPoints = [join(sdk, 'examples', `${name}.ts`)]
      await build({ entryPoints, outfile, format: 'esm', target: 'node20' })
      const options = { env: { ...process.env, ...env }, timeout: 110_000 }
      return (await promisify(execFile)(process.execPath, [outfile], options)).stdout
    } finally {
      await rm(outfile, { force: true })
    }
  }

  const stored = () => join(tmpdir(), `qs-example-${crypto.randomUUID()}.json`)

  it('the commands that set the address, the genesis hash and the token', async ({
    cluster,
    party,
    seeds,
  }) => {
    const [, lines = ''] =
      /```sh\n(export SEED[\s\S]*?)```/.exec(await readFile(join(sdk, 'README.md'), 'utf8')) ?? []
    const script = `npx() { shift 3; "$COMMAND" "$@" --data-dir "$DIRECTORY"; }
      ${lines}
      echo "$GENESIS_HASH $TOKEN"`
    const command = join(sdk, '../node_modules/.bin/quorumscan')
    const env = { ...process.env, COMMAND: command, DIRECTORY: cluster.dataDir }
    const { stdout } = await promisify(execFile)('bash', ['-ec', script], { env })
    const [hash, token = ''] = stdout.trim().split(' ')
    expect(hash).toBe(cluster.genesisHash)
    const asAlice = createValidator({ url: cluster.validatorUrl, token })
    expect(await asAlice.wallet.status()).toMatchObject({ partyId: party })
    // The hash is also that of the served document.
    const served = await (await fetch(`${seeds()[0]}/v0/genesis`)).arrayBuffer()
    expect(createHash('sha256').update(Buffer.from(served)).digest('hex')).toBe(hash)
  })

  it.for([
    ['resolve', /^alice::1220/],
    ['splice', /^alice::1220.*\nalice::1220.*, agreed by sv-\d, sv-\d, sv-\d\n$/],
    [
      'qualified-names',
      /^alice::1220.*, by proof, from localnet:cns:alice\S*\nalice\.unverified\.ns\n$/,
    ],
    ['keep-the-proof', /signed by sv-\d.*\nalice::1220.* at 2\S*Z, signed by sv-\d.*\n$/],
  ] as const)('%s', async ([name, output], { pinned }) => {
    expect(await example(name, pinned())).toMatch(output)
  })

  it('change-of-owner', async ({ pinned, party, cluster, genesis }) => {
    const STORE = stored()
    try {
      expect(await example('change-of-owner', { ...pinned(), STORE })).toBe(`send to ${party}\n`)
      const store = createFileStore(STORE)
      await using other = cluster.scan({ store })
      await other.names.acceptChange(ALICE, genesis.dso)
      const run = example('change-of-owner', { ...pinned(), STORE })
      await expect(run).rejects.toMatchObject({
        stdout: expect.stringContaining(`was ${genesis.dso}; at 2`),
        stderr: expect.stringContaining('NAME_CHANGED'),
      })
    } finally {
      await rm(STORE, { force: true })
    }
  })

  it('register; a search that started earlier does not contain the new name', async ({
    scan,
    userOf,
    cluster,
  }) => {
    const walks = [scan.names, userOf('reader').names].map((names) =>
      names.search('', { pageSize: 2 }),
    )
    for (const walk of walks) expect((await walk.next()).value?.name).toBe(ALICE)
    const output = await example('register', {
      VALIDATOR: cluster.validatorUrl,
      TOKEN: await cluster.token('frank'),
      REGISTER: 'frank',
    })
    expect(output).toMatch(/^requested\npaid\nactive\nfrank\.unverified\.ns belongs to frank/)
    for (const walk of [...walks, scan.names.search('frank')]) {
      const found: string[] = []
      for await (const { name } of walk) found.push(name)
      expect(found.includes('frank.unverified.ns')).toBe(!walks.includes(walk))
    }
  })

  it('follow', async ({ cluster }) => {
    const STORE = stored()
    const env = { VALIDATOR: cluster.validatorUrl, TOKEN: await cluster.token('alice'), STORE }
    try {
      expect(await example('follow', env)).toMatch(/^(\d+ transaction\n){3,}$/)
      // The first run has processed all updates.
      expect(await example('follow', env)).toBe('')
    } finally {
      await rm(STORE, { force: true })
    }
  })

  it('test-against-a-cluster', async () => {
    expect(await example('test-against-a-cluster')).toBe('still verified with one node dead\n')
  })
})

it('a name is renewed within the window once, for another period', async ({
  alice,
  scan,
  party,
}) => {
  const [before] = await alice.names.list()
  const balance = async () => Number((await alice.wallet.balance()).effectiveUnlockedQty)
  const coin = await balance()
  const renewal = await until('the window to open', async () => {
    const done = await alice.names.renew(ALICE)
    return done.wasPaid ? undefined : done
  })
  expect(renewal.name).toBe(ALICE)
  const again = await alice.names.renew(ALICE, { after: before?.expiresAt ?? '' })
  expect(again).toEqual({ ...renewal, wasPaid: true, offset: again.offset })
  expect(again.offset).toBeGreaterThanOrEqual(renewal.offset)
  expect(await balance()).toBe(coin - 200)
  const [after] = await alice.names.list()
  const endOf = (entry: typeof after) => toDate(entry?.expiresAt ?? '').getTime()
  expect(endOf(after) - endOf(before)).toBe((90 * DAY_MICROS) / 1000)
  expect(await scan.names.resolve(ALICE)).toBe(party)
})

describe('a test cluster', () => {
  it('pauses, resumes, wipes and restarts its nodes, and waits for a condition', async ({
    cluster,
    scan,
    party,
    restartAll,
  }) => {
    const is = (name: string, state: string) => () =>
      cluster.waitFor(({ nodes }) =>
        nodes.some((node) => node.name === name && node.state === state),
      )
    await cluster.pause('sv-1')
    await is('sv-1', 'paused')()
    expect(await scan.names.resolve(ALICE)).toBe(party)
    await cluster.resume('sv-1')
    await is('sv-1', 'up')()
    await cluster.wipe('sv-3')
    await restartAll()
    const { cluster: facts } = await cluster.status()
    expect(facts).toMatchObject({ n: 4, f: 1, genesisHash: cluster.genesisHash })
    await expect(cluster.waitFor(() => false, { timeoutMs: 1 })).rejects.toThrow(
      /did not reach the expected state within 1 ms: .*sv-1/,
    )
    expect((await cluster.token()).split('.').length).toBe(3)
  })

  it('fails to start with the reason if the command is missing or exits', async () => {
    const missing = startCluster({ command: ['no-such-quorumscan'] })
    await expect(missing).rejects.toThrow(/quorumscan command is missing/)
    await expect(startCluster({ nodes: 0 })).rejects.toThrow(/before the cluster was ready:\n.+/)
  })

  it('stops gracefully, and deletes its data directory', async ({ scan, cluster }) => {
    await scan.close()
    const { content } = JSON.parse(await readFile(join(cluster.dataDir, 'processes.json'), 'utf8'))
    const pids = (content as { readonly pid: number }[]).map(({ pid }) => pid)
    expect(pids).toHaveLength(12)
    const logs = join(cluster.dataDir, 'logs')
    const names = readdirSync(logs).filter((name) => name !== 'control.log')
    // Open file descriptors stay readable after `down` deletes the files.
    const files = names.map((name) => ({ name, fd: openSync(join(logs, name), 'r') }))
    await cluster.down()
    for (const { name, fd } of files) {
      const last = readFileSync(fd, 'utf8').trimEnd().split('\n').at(-1)
      closeSync(fd)
      // A process that was killed has no such line.
      expect(last, name).toContain(name.endsWith('.redis.log') ? 'bye bye' : '"msg":"stopped"')
    }
    for (const pid of pids) expect(existsSync(`/proc/${pid}`), `process ${pid}`).toBe(false)
    expect(existsSync(cluster.dataDir)).toBe(false)
    await expect(fetch(`${cluster.validatorUrl}/readyz`)).rejects.toThrow()
  })
})
