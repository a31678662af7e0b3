/**
 * The SDK as a wallet uses it, on real processes: lookups straight from the nodes and through the proxy,
 * a registration from the first request to a verified name, and what it says when nodes are gone.
 */
import { execFile } from 'node:child_process'
import { readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import {
  createMemoryStore,
  createScan,
  createValidator,
  type Genesis,
  type NameChange,
  type RegisterProgress,
  type Registration,
  type Scan,
  type Validator,
} from '@quorumscan/sdk'
import { createFileStore } from '@quorumscan/sdk/node'
import { createScanClient } from '@quorumscan/sdk/raw'
import { parseGenesis, requestOfLookup, verifyReceipt } from '@quorumscan/sdk/receipts'
import { build } from 'esbuild'
import { type RunningCluster, startCluster } from 'quorumscan'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { until } from './client.ts'

let cluster: RunningCluster
let genesis: Genesis
let scan: Scan
let alice: Validator
let party: string
let registration: Registration
const events: RegisterProgress[] = []
const ALICE = 'alice.unverified.ns'
const NOBODY = 'nobody.unverified.ns'

const seeds = () => Object.values(cluster.urls.nodes)

function userOf(user: string): Validator {
  return createValidator({
    url: cluster.urls.validator,
    token: () => cluster.token(user),
  })
}

async function withCoin(user: string): Promise<Validator> {
  const validator = userOf(user)
  await validator.wallet.register()
  await validator.wallet.tap({ amount: '10.0' })
  return validator
}

beforeAll(async () => {
  cluster = await startCluster({ nodes: 4 })
  genesis = parseGenesis(JSON.parse(await readFile(join(cluster.dataDir, 'genesis.json'), 'utf8')))
  scan = createScan({ seeds: seeds(), genesis })
  alice = await withCoin('alice')
  party = (await alice.wallet.status()).partyId
  registration = await alice.names.register(
    { name: ALICE, url: 'https://example.org', description: 'me' },
    { onProgress: (event) => events.push(event) },
  )
})
afterAll(async () => {
  await scan?.close()
  await cluster?.down()
})
afterEach(async () => {
  for (const { name, state } of (await cluster.status()).nodes)
    if (state === 'down') await cluster.restart(name)
  await until('all four nodes to vote', async () => {
    const outcome = await scan.names.lookup(ALICE, { threshold: 'all', receipt: false })
    return outcome.kind === 'verified' ? true : undefined
  })
})

describe('a registration', () => {
  it('goes from the request over the payment to a name that enough nodes know', async () => {
    expect(registration).toEqual({ name: ALICE, party, wasOwned: false })
    expect(events.map(({ step, isResumed }) => [step, isResumed])).toEqual([
      ['requested', false],
      ['paid', false],
      ['active', false],
    ])
    expect(await alice.names.list()).toMatchObject([{ name: ALICE, unit: 'USDUnit' }])
  })

  it('of a name that one has pays nothing', async () => {
    const before = await alice.wallet.balance()
    expect(await alice.names.register({ name: ALICE })).toMatchObject({ wasOwned: true })
    expect(await alice.wallet.balance()).toEqual(before)
  })

  it('goes on after a crash between request and payment, and pays once', async () => {
    const bob = await withCoin('bob')
    const name = 'bob.unverified.ns'
    const crash = new AbortController()
    const first = bob.names.register(
      { name },
      { signal: crash.signal, onProgress: () => crash.abort(new Error('crash')) },
    )
    await expect(first).rejects.toThrow('crash')
    const resumed: RegisterProgress[] = []
    await bob.names.register({ name }, { onProgress: (event) => resumed.push(event) })
    expect(resumed.map(({ step }) => step)).toEqual(expect.arrayContaining(['paid', 'active']))
    expect(resumed[0]).toMatchObject({ isResumed: true })
    // Ten dollars at 0.005 a coin, and one dollar for one name.
    expect(await bob.wallet.balance()).toMatchObject({ effectiveUnlockedQty: '1800.0000000000' })
  })

  it('of a name of somebody else is refused, and says that nothing was paid', async () => {
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

  it('renewed too early is refused with the reason; cancelled it stays until it expires', async () => {
    await expect(alice.names.renew(ALICE)).rejects.toMatchObject({
      code: 'CHOICE_REFUSED',
      payment: 'not-paid',
    })
    const erin = await withCoin('erin')
    await erin.names.register({ name: 'erin.unverified.ns' })
    await erin.names.cancel('erin.unverified.ns')
    expect(await erin.names.list()).toEqual([])
    expect(await erin.names.resolve('erin.unverified.ns')).not.toBeNull()
    await expect(erin.names.cancel('erin.unverified.ns')).rejects.toMatchObject({
      code: 'CONTRACT_NOT_FOUND',
    })
  })
})

describe.each([
  ['straight from the nodes', () => scan.names],
  ['through the proxy', () => userOf('reader').names],
  [
    'through the proxy, checked here',
    () => createValidator({ url: cluster.urls.validator, genesis }).names,
  ],
] as const)('lookups %s', (_, names) => {
  it('find a name, its party and nothing else', async () => {
    expect(await names().resolve(ALICE)).toBe(party)
    expect(await names().resolve(NOBODY)).toBeNull()
    expect(await names().reverse(party)).toBe(ALICE)
    expect(await names().reverse(`x${party}`)).toBeNull()
    expect(await names().isAvailable(NOBODY)).toBe(true)
    expect(await names().isAvailable(ALICE)).toBe(false)
    expect(await names().resolveMany([NOBODY, ALICE, 'dso.ns', ALICE])).toEqual([
      null,
      party,
      genesis.dso,
      party,
    ])
  })

  it('come with a receipt that proves them', async () => {
    for (const name of [ALICE, NOBODY]) {
      const outcome = await names().lookup(name, { threshold: 'strong' })
      if (outcome.kind !== 'verified' && outcome.kind !== 'verified-absent')
        throw new Error(outcome.kind)
      const request = requestOfLookup({ name })
      const receipt = await verifyReceipt(outcome.receipt, { genesis, request, threshold: 3 })
      expect(JSON.parse(new TextDecoder().decode(receipt.answer)).entry?.user ?? null).toBe(
        outcome.entry?.party ?? null,
      )
      expect(outcome.agreed.length).toBeGreaterThanOrEqual(3)
    }
  })

  it('of somebody else than expected do not look verified', async () => {
    expect(await names().lookup(ALICE, { expectParty: genesis.dso })).toMatchObject({
      kind: 'mismatch',
      entry: { party },
      expectedParty: genesis.dso,
    })
  })

  it('by prefix walk over pages in order', async () => {
    const found: string[] = []
    for await (const entry of names().search('', { pageSize: 2 })) found.push(entry.name)
    expect(found).toEqual([...found].sort())
    expect(found).toEqual(expect.arrayContaining([ALICE, 'dso.ns', 'sv-1.sv.ns', 'sv-4.sv.ns']))
  })
})

describe('with nodes gone', () => {
  it('one: lookups go on; three: they are refused, and absence is not made up', async () => {
    await cluster.kill('sv-1')
    expect(await scan.names.resolve(ALICE)).toBe(party)
    await cluster.kill('sv-2')
    await cluster.kill('sv-3')
    for (const names of [scan.names, userOf('reader').names]) {
      await expect(names.resolve(NOBODY)).rejects.toMatchObject({
        code: 'NOT_ENOUGH_NODES',
        definite: true,
        retryable: true,
      })
      expect(await names.lookup(ALICE)).toMatchObject({ kind: 'insufficient', needed: 2 })
    }
  })
})

describe('what is remembered', () => {
  it('warns when a name belongs to somebody else than last time, until that is accepted', async () => {
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
    expect(await second.names.resolve(ALICE)).toBe(party)
    expect(changes).toEqual([change, change])
    await second.names.acceptChange(ALICE, party)
    expect(await second.names.lookup(ALICE)).toMatchObject({ changed: null })
  })

  it('in a file: floor and addresses, so that dead seeds do not matter', async () => {
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

it('the genesis may be pinned by its hash; another network is refused', async () => {
  const { cluster: facts } = await cluster.status()
  await using pinned = createScan({ seeds: seeds(), genesis: facts.genesisHash })
  expect(await pinned.names.resolve(ALICE)).toBe(party)
  await using wrong = createScan({ seeds: seeds(), genesis: 'ab'.repeat(32) })
  await expect(wrong.names.resolve(ALICE)).rejects.toMatchObject({ code: 'WRONG_GENESIS' })
})

it('activities come once each, in order, and go on from the checkpoint', async () => {
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
  // The row at which the loop was left counts as not processed.
  expect([...first.slice(0, 2), ...rest]).toEqual(all)
})

describe('the ledger interface', () => {
  it('streams what the parties see, goes on from the checkpoint, and ends where it is told', async () => {
    const checkpoint = { store: createMemoryStore(), key: 'updates' }
    const offsets: number[] = []
    for await (const update of alice.updates({ parties: [party], follow: false, checkpoint }))
      offsets.push(update.offset)
    expect(offsets.length).toBeGreaterThan(2)
    expect(offsets).toEqual([...new Set(offsets)].sort((a, b) => a - b))
    await alice.wallet.tap({ amount: '1.0' })
    for await (const update of alice.updates({ parties: [party], checkpoint })) {
      expect(update).toMatchObject({ kind: 'transaction' })
      expect(update.offset).toBeGreaterThan(offsets.at(-1) ?? 0)
      break
    }
  })

  it('takes a command once, however often it is submitted, and says so', async () => {
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

describe('the examples of the README run as they stand', () => {
  const sdk = join(import.meta.dirname, '../../sdk')

  /** As a user runs one: against the built package, types taken off. */
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

  it.each([
    ['resolve', /^alice::1220/],
    ['lookup', /say sv-\d.*\nSigned by sv-\d.* at offset \d+\.\n$/],
  ])('%s', async (name, output) => {
    const { cluster: facts } = await cluster.status()
    const env = { SEED: cluster.urls.nodes['sv-1'] ?? '', GENESIS_HASH: facts.genesisHash }
    expect(await example(name, env)).toMatch(output)
  })

  it('register', async () => {
    const output = await example('register', {
      VALIDATOR: cluster.urls.validator,
      TOKEN: await cluster.token('frank'),
      NAME: 'frank.unverified.ns',
    })
    expect(output).toMatch(/^requested\npaid\nactive\nfrank\.unverified\.ns belongs to frank/)
  })

  it('test-against-a-cluster', async () => {
    expect(await example('test-against-a-cluster')).toBe('still verified with one node dead\n')
  })
})
