/**
 * The SDK as a wallet uses it, on real processes that its `/testing` starts: lookups at the nodes and through the
 * proxy, registrations, coin, streams, and the examples of the README.
 */
import { createHash } from 'node:crypto'
import { join } from 'node:path'
import {
  createMemoryStore,
  createScan,
  createValidator,
  parseContractId,
  type RegisterProgress,
  type Validator,
} from '@quorumscan/sdk'
import { createFileStore } from '@quorumscan/sdk/node'
import { createScanClient } from '@quorumscan/sdk/raw'
import { verifyReceipt } from '@quorumscan/sdk/receipts'
import { startCluster } from '@quorumscan/sdk/testing'
import { required, until } from '@quorumscan/testkit'
import { it as base } from '@quorumscan/testkit/fixtures'
import { formatInstant } from '@quorumscan/verifier'
import { WebSocket } from 'undici'
import { describe, expect } from 'vitest'
import { clock } from '../support/client.ts'
import { installCommandFor, runEnv, runExample, runReadmeCommands } from './sdk/examples.ts'
import { stopGracefully } from './sdk/stop-gracefully.ts'

const ALICE = 'alice.unverified.ns'
const MISSING = 'missing.unverified.ns'
const HOUR_MICROS = 3_600_000_000

const it = base
  .extend('cluster', { scope: 'file' }, async ({ fileResources }) => {
    required('redis')
    // Names can be renewed immediately.
    const names = { entryLifetimeMicros: HOUR_MICROS, renewalDurationMicros: HOUR_MICROS }
    const cluster = await startCluster({ nodes: 4, genesisOverrides: { names } })
    fileResources.onClose(() => stopGracefully(cluster))
    return cluster
  })
  .extend('genesis', { scope: 'file' }, ({ cluster }) => cluster.genesis)
  .extend('scan', { scope: 'file' }, ({ cluster, fileResources }) => {
    const scan = cluster.scan()
    fileResources.onClose(() => scan.close())
    return scan
  })
  .extend(
    'withCoin',
    { scope: 'file' },
    ({ cluster }) =>
      async (user: string): Promise<Validator> => {
        const validator = cluster.validator(user)
        await validator.wallet.party()
        await validator.wallet.tap({ usd: '10.0' })
        return validator
      },
  )
  .extend('alice', { scope: 'file' }, ({ withCoin }) => withCoin('alice'))
  .extend('party', { scope: 'file' }, async ({ alice }) => (await alice.wallet.status()).partyId)
  /** The name of alice, and the progress that its registration reported. */
  .extend('registered', { scope: 'file' }, async ({ alice }) => {
    const events: RegisterProgress[] = []
    const registration = await alice.names.register(
      { name: ALICE, url: 'https://example.org', description: 'me' },
      { onProgress: (event) => events.push(event) },
    )
    return { events, registration }
  })
  .extend('surfaces', { scope: 'file' }, ({ scan, cluster, genesis }) => ({
    'at the nodes': scan.names,
    'through the proxy': cluster.validator('reader').names,
    'through the proxy with local verification': createValidator({
      url: cluster.validatorUrl,
      genesis,
    }).names,
  }))
  /** Variables of the examples. */
  .extend('pinned', { scope: 'file' }, ({ cluster }) => ({
    SEED: cluster.seeds[0] ?? '',
    GENESIS_HASH: cluster.genesisHash,
  }))

it('a registration requests, pays for and returns a name that lookups verify', async ({
  registered: { registration, events },
  party,
  scan,
  alice,
}) => {
  const { entry, offset, ...rest } = registration
  expect(rest).toEqual({ name: ALICE, party, autoRenew: false, wasOwned: false })
  expect(entry).toMatchObject({ url: 'https://example.org', description: 'me', party })
  expect(await scan.names.lookup(ALICE, { minOffset: offset })).toMatchObject({ value: entry })
  expect(events.map(({ step, isResumed }) => [step, isResumed])).toEqual([
    ['requested', false],
    ['paid', false],
    ['active', false],
  ])
  expect(await alice.names.list()).toMatchObject([{ name: ALICE, renews: true, unit: 'USDUnit' }])
  await expect(
    alice.names.register({ name: ALICE, url: 'https://other.example' }),
  ).rejects.toMatchObject({ code: 'REGISTRATION_DIFFERS', payment: 'paid' })
})

it.for(['at the nodes', 'through the proxy', 'through the proxy with local verification'] as const)(
  'lookups %s find names and parties, with receipts that prove them',
  async (surface, { registered: _, surfaces, party, cluster, genesis }) => {
    const names = surfaces[surface]
    expect(await names.resolve(ALICE)).toBe(party)
    expect(await names.reverse(party)).toMatchObject({ name: ALICE, changed: null })
    expect(await names.reverse(`x${party}`)).toBeNull()
    expect(await names.isAvailable(MISSING)).toBe(true)
    const many = await names.resolveMany([MISSING, 'Alice', 'dso.ns'])
    expect(many.map((outcome) => 'value' in outcome && outcome.value?.party)).toEqual([
      undefined,
      party,
      genesis.dso,
    ])
    const back = await names.reverseMany([party, genesis.dso])
    expect(back.map((outcome) => 'value' in outcome && outcome.value?.name)).toEqual([
      ALICE,
      'dso.ns',
    ])
    const found: string[] = []
    for await (const { name } of names.search('sv-', { pageSize: 2 })) found.push(name)
    expect(found).toEqual(['sv-1.sv.ns', 'sv-2.sv.ns', 'sv-3.sv.ns', 'sv-4.sv.ns'])
    for (const name of [ALICE, MISSING]) {
      const outcome = await names.lookup(name, { threshold: 'strong' })
      if (outcome.kind !== 'proven') throw new Error(outcome.kind)
      const pinned = { genesis: cluster.genesisHash, documents: [genesis] }
      const proven = await verifyReceipt(outcome.receipt, { ...pinned, name, threshold: 3 })
      expect(proven.entry).toEqual(outcome.value)
      expect(outcome.agreed.length).toBeGreaterThanOrEqual(3)
    }
  },
)

describe('a wallet', () => {
  it('creates transfers, which the receiver accepts or rejects or the sender withdraws', async ({
    withCoin,
  }) => {
    const [gina, hugo] = [await withCoin('gina'), await withCoin('hugo')]
    const receiver = await hugo.wallet.party()
    const createTransfer = async (trackingId: string) => {
      const expiresAt = formatInstant(clock.nowMicros() + HOUR_MICROS)
      const terms = { coin: '5.0', receiver, trackingId, expiresAt }
      const made = await gina.payments.transfer(terms)
      if (made.kind !== 'done') throw made.error
      // The ledger has it once: the repeat has the same update.
      expect(await gina.payments.transfer(terms)).toEqual(made)
      const { output } = made.result
      if (!('transferInstructionCid' in output)) throw new Error('not a pending transfer')
      return output.transferInstructionCid
    }
    const before = Number((await hugo.wallet.balance()).effectiveUnlockedQty)
    const accepted = await createTransfer('t-1')
    expect(await hugo.wallet.transfers()).toMatchObject([{ contractId: accepted }])
    for (const result of [
      await hugo.payments.acceptTransfer(accepted),
      await hugo.payments.rejectTransfer(await createTransfer('t-2')),
      await gina.payments.withdrawTransfer(await createTransfer('t-3')),
    ])
      expect(result).toMatchObject({ kind: 'done', updateId: expect.stringMatching(/^1220/) })
    expect(await hugo.wallet.transfers()).toEqual([])
    expect(Number((await hugo.wallet.balance()).effectiveUnlockedQty)).toBe(before + 5)
    expect((await hugo.wallet.coins()).coins.length).toBeGreaterThan(1)
    const kinds: string[] = []
    for await (const item of gina.wallet.transactions({ pageSize: 2 }))
      kinds.push(item.transactionType)
    expect(kinds).toContain('transfer')
  })

  it('registers after it rejected a request, renews once, and cancels', { tags: ['rest'] }, async ({
    withCoin,
  }) => {
    const { wallet, names } = await withCoin('ivan')
    const name = 'ivan.unverified.ns'
    const crash = new AbortController()
    const attempt = names.register(
      { name },
      { signal: crash.signal, onProgress: () => crash.abort(new Error('crash')) },
    )
    await expect(attempt).rejects.toThrow('crash')
    const [request] = await wallet.subscriptionRequests()
    const contractId = parseContractId(request?.contractId ?? 'none')
    expect(await wallet.subscriptionRequest(contractId)).toEqual(request)
    await wallet.rejectSubscriptionRequest(contractId)
    expect(await wallet.subscriptionRequests()).toEqual([])

    await names.register({ name })
    const renewal = await names.renew(name)
    expect(renewal).toMatchObject({ name, wasPaid: false })
    // Ten dollars at 0.005 a coin, and two periods of one dollar.
    const { effectiveUnlockedQty } = await wallet.balance()
    expect(effectiveUnlockedQty).toBe('1600.0000000000')
    const [subscription] = await wallet.subscriptions()
    const id = parseContractId(subscription?.subscription.contractId ?? 'none')
    await wallet.setAutoRenew(id, true)
    expect((await wallet.subscriptions())[0]?.autoRenew).toBe(true)
    await names.cancel(name)
    await names.cancel(name)
    expect(await names.list()).toMatchObject([{ name, renews: false }])
    expect(await names.resolve(name)).not.toBeNull()
  })
})

describe('streams', () => {
  it('of activities are read when a WebSocket announces them, and once each after it is lost', {
    tags: ['rest'],
  }, async ({ scan, withCoin, cluster, genesis }) => {
    const { wallet } = await withCoin('judy')
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
        this.addEventListener('message', () => wallet.tap({ usd: '1.0' }).catch(() => {}))
      }
    }
    const { activities } = cluster.validator('judy', { genesis, WebSocket: WatchedSocket })
    const seen: string[] = []
    await wallet.tap({ usd: '1.0' })
    // The interval is longer than the test, so that no client polls.
    const options = { after, follow: true, pageSize: 2, pollMs: 600_000 } as const
    for await (const row of activities({ ...options, threshold: 'strong' })) {
      seen.push(row.eventId)
      if (seen.length === 4) break
      if (seen.length === 2) sockets[0]?.close()
    }
    expect(sockets.length).toBeGreaterThan(0)
    const known: string[] = []
    for await (const row of scan.activities({ after })) known.push(row.eventId)
    expect(seen).toEqual(known.slice(0, 4))
  })

  it.for([
    ['over WebSocket', WebSocket],
    ['by pages', null],
  ] as const)(
    'of updates %s yield each offset once, and continue from the checkpoint',
    { tags: ['rest'] },
    async ([, socket], { cluster, withCoin }) => {
      const { wallet } = await withCoin('kim')
      const parties = [(await wallet.status()).partyId]
      const checkpoint = { store: createMemoryStore(), key: 'updates' }
      /** Fails a request for a page, because updates must arrive over the WebSocket. */
      const noPages: typeof fetch = async (input, init) => {
        if (String(input).includes('/v2/updates')) throw new Error('unexpected request for a page')
        return fetch(input, init)
      }
      const { updates } = cluster.validator('kim', {
        url: `${cluster.validatorUrl}/api/validator`,
        WebSocket: socket,
        ...(socket === null ? {} : { fetch: noPages }),
      })
      await wallet.tap({ usd: '1.0' })
      const offsets: number[] = []
      for await (const update of updates({ parties, follow: false, checkpoint }))
        offsets.push(update.offset)
      expect(offsets.length).toBeGreaterThanOrEqual(2)
      expect(offsets).toEqual([...new Set(offsets)].sort((a, b) => a - b))
      await wallet.tap({ usd: '1.0' })
      for await (const update of updates({ parties, checkpoint })) {
        expect(update).toMatchObject({ kind: 'transaction' })
        expect(update.offset).toBeGreaterThan(offsets.at(-1) ?? 0)
        break
      }
    },
  )
})

it('a command is executed once, and its repetition is reported as a duplicate', async ({
  cluster,
  party,
  genesis,
  alice,
}) => {
  const rules = createScanClient({ baseUrl: cluster.seeds[0] ?? '' })
  const { data } = await rules.POST('/v0/ans-rules', { body: {} })
  const contract = data?.ans_rules_update.contract
  const of = { templateId: contract?.template_id ?? '', contractId: contract?.contract_id ?? '' }
  const choiceArgument = { name: 'once.unverified.ns', url: '', description: '', user: party }
  const submission = {
    commandId: 'once',
    actAs: [party],
    commands: [{ ExerciseCommand: { ...of, choice: 'AnsRules_RequestEntry', choiceArgument } }],
    disclosedContracts: [
      {
        ...of,
        createdEventBlob: contract?.created_event_blob ?? '',
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
})

describe('the examples of the README run unchanged:', () => {
  it('the commands that set the address, the genesis hash and the token', async ({
    cluster,
    party,
  }) => {
    const [hash, token = ''] = await runReadmeCommands(cluster)
    expect(hash).toBe(cluster.genesisHash)
    const asAlice = createValidator({ url: cluster.validatorUrl, token })
    expect(await asAlice.wallet.status()).toMatchObject({ partyId: party })
    // The hash is also that of the served document.
    const served = await (await fetch(`${cluster.seeds[0]}/v0/genesis`)).arrayBuffer()
    expect(createHash('sha256').update(Buffer.from(served)).digest('hex')).toBe(hash)
  })

  it.for([
    ['resolve', /^alice::1220/],
    ['splice', /^alice::1220.*\nalice::1220.*, agreed by sv-\d, sv-\d, sv-\d\n$/],
    [
      'qualified-names',
      /^alice::1220.*, by proof, from localnet:cns:alice\S*\nalice\.unverified\.ns\n$/,
    ],
    ['trusted-members', /^alice::1220.*, signed by sv-[123], sv-[123]/],
    ['keep-the-proof', /signed by sv-\d.*\nalice::1220.* at 2\S*Z, signed by sv-\d.*\n$/],
  ] as const)('%s', async ([name, output], { registered: _, pinned }) => {
    expect(await runExample(name, pinned)).toMatch(output)
  })

  it('clients of the network that `quorumscan env` prints', { tags: ['rest'] }, async ({
    registered: _,
    cluster,
    party,
  }) => {
    const { preset, variables } = await runEnv(cluster)
    const { network, validator } = preset
    expect(network.seeds).toEqual(cluster.seeds)
    for (const seed of network.seeds) {
      await using scan = createScan({ ...network, seeds: [seed] })
      expect(await scan.names.resolve(ALICE, { threshold: 'strong' })).toBe(party)
    }
    const { genesis } = network
    const alice = createValidator({ ...validator, genesis, token: await cluster.token('alice') })
    expect(await alice.names.lookup(ALICE)).toMatchObject({ basis: 'proof', value: { party } })
    expect(await alice.wallet.status()).toMatchObject({ partyId: party })
    expect(variables).toEqual({
      SEED: network.seeds[0],
      SEEDS: network.seeds.join(','),
      GENESIS_HASH: genesis,
      VALIDATOR: validator.url,
    })
    expect(await runExample('resolve', variables)).toContain(party)
  })

  it('change-of-owner', { tags: ['rest'] }, async ({
    registered: _,
    pinned,
    party,
    cluster,
    genesis,
    directory,
  }) => {
    const STORE = join(directory, 'wallet.json')
    expect(await runExample('change-of-owner', { ...pinned, STORE })).toBe(`send to ${party}\n`)
    await using other = cluster.scan({ store: createFileStore(STORE) })
    await other.names.acceptChange(ALICE, genesis.dso)
    await expect(runExample('change-of-owner', { ...pinned, STORE })).rejects.toMatchObject({
      stdout: expect.stringContaining(`was ${genesis.dso}; at 2`),
      stderr: expect.stringContaining('NAME_CHANGED'),
    })
  })

  it('register', async ({ cluster }) => {
    const output = await runExample('register', {
      VALIDATOR: cluster.validatorUrl,
      TOKEN: await cluster.token('frank'),
      REGISTER: 'frank',
    })
    expect(output).toMatch(/^requested\npaid\nactive\nfrank\.unverified\.ns belongs to frank/)
  })

  it('follow', { tags: ['rest'] }, async ({ registered: _, cluster, directory }) => {
    const STORE = join(directory, 'wallet.json')
    const env = { VALIDATOR: cluster.validatorUrl, TOKEN: await cluster.token('alice'), STORE }
    expect(await runExample('follow', env)).toMatch(/^(\d+ transaction\n){3,}$/)
    // The first run has processed all updates.
    expect(await runExample('follow', env)).toBe('')
  })
})

describe('a test cluster', { tags: ['rest'] }, () => {
  /** Restarts all nodes that are down, and waits until all vote. */
  it.afterEach(async ({ cluster, scan }) => {
    const { nodes } = await cluster.status()
    const down = nodes.filter(({ state }) => state === 'down')
    await Promise.all(down.map(({ name }) => cluster.restart(name)))
    await until('all four nodes to vote', async () => {
      const outcome = await scan.names.lookup(MISSING, { threshold: 'all', receipt: false })
      return outcome.kind === 'proven' && outcome.value === null ? true : undefined
    })
  })

  it('resolves with one node dead in the example of the README, which runs unchanged', async ({
    registered: _,
    cluster,
    directory,
  }) => {
    await installCommandFor(cluster, directory)
    const output = await runExample('test-against-a-cluster', {}, directory)
    expect(output).toBe('still verified with one node dead\n')
    expect((await cluster.status()).nodes).toContainEqual(
      expect.objectContaining({ name: 'sv-1', state: 'down' }),
    )
  })

  it('pauses, resumes and wipes its nodes, and waits for a condition', async ({ cluster }) => {
    const is = (name: string, state: string) =>
      cluster.waitFor(({ nodes }) =>
        nodes.some((node) => node.name === name && node.state === state),
      )
    await cluster.pause('sv-1')
    await is('sv-1', 'paused')
    await cluster.resume('sv-1')
    await is('sv-1', 'up')
    await cluster.wipe('sv-3')
    const { cluster: facts } = await is('sv-3', 'up')
    expect(facts).toMatchObject({ n: 4, f: 1, genesisHash: cluster.genesisHash })
    await expect(cluster.waitFor(() => false, { timeoutMs: 1 })).rejects.toThrow(
      /did not reach the expected state within 1 ms: .*sv-1/,
    )
  })
})

it('a cluster fails to start with the reason if the command is missing or exits', {
  tags: ['rest'],
}, async () => {
  const missing = startCluster({ command: ['no-such-quorumscan'] })
  await expect(missing).rejects.toThrow(/quorumscan command is missing/)
  const exiting: [string, ...string[]] = [
    process.execPath,
    '-e',
    'console.error("no disk"); process.exitCode = 3',
  ]
  await expect(startCluster({ command: exiting })).rejects.toThrow(
    /before the cluster was ready:\n.*no disk/,
  )
  await expect(startCluster({ nodes: 0 })).rejects.toThrow('must be a whole number, from 1 to 13')
})
