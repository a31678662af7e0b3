import { text as readText } from 'node:stream/consumers'
import { createSystemClock } from '@quorumscan/base'
import { createLogger } from '@quorumscan/runtime'
import {
  createHttpClient,
  type HttpAnswer,
  type HttpClient,
  serve,
  startRedis,
  startRestartable,
  until,
  untilTrue,
} from '@quorumscan/testkit'
import { it as base } from '@quorumscan/testkit/fixtures'
import { describe, expect } from 'vitest'
import { startValidator } from './server.ts'
import { startNetwork } from './testing/network.ts'
import { balanceOf, failure } from './testing/test-validator.ts'

const logger = createLogger({ name: 'validator', level: 'silent' })
const it = base
  .extend('network', { scope: 'file' }, async ({ fileResources }) =>
    fileResources.opened(await startNetwork(4)),
  )
  .extend('validator', { scope: 'file' }, async ({ network, fileResources }) =>
    fileResources.opened(await startRestartable(() => startValidator(network.config, { logger }))),
  )
  .extend('anyone', { scope: 'file' }, async ({ validator }) => {
    const anyone = createHttpClient(() => validator.url, null)
    await ready(anyone)
    return anyone
  })
  .extend('admin', { scope: 'file' }, async ({ network, validator, anyone: _ }) =>
    createHttpClient(() => validator.url, await network.token('participant_admin')),
  )
  .extend('clientOf', ({ validator, network }) => async (user: string): Promise<HttpClient> => {
    return createHttpClient(validator.url, await network.token(user))
  })
  /** A registered user with coin. */
  .extend('registered', ({ clientOf }) => async (user: string, usd: string | null = '10.0') => {
    const client = await clientOf(user)
    const { party_id: party } = (await client.post('/v0/register')).body
    if (usd !== null) expect(await client.post('/v0/wallet/tap', { amount: usd })).toAnswer(200)
    return { client, party: String(party) }
  })
  .extend(
    'lookup',
    ({ anyone }) =>
      (name: string, headers: Record<string, string> = {}): Promise<HttpAnswer> => {
        return anyone.get(`/v0/scan-proxy/ans-entries/by-name/${name}`, headers)
      },
  )
  .extend('found', ({ lookup }) => async (name: string): Promise<HttpAnswer> => {
    return until(`${name} to be registered`, async () => {
      const answer = await lookup(name)
      // On a busy machine nodes may lag for longer than the proxy waits (503).
      return answer.status === 200 ? answer : undefined
    })
  })

async function ready(client: HttpClient): Promise<void> {
  await untilTrue(
    'the validator to be ready',
    async () => (await client.get('/api/validator/readyz')).status === 200,
  )
}

async function requestName(client: HttpClient, name: string): Promise<string> {
  const answer = await client.post('/v0/entry/create', { name, url: '', description: '' })
  expect(answer.status, JSON.stringify(answer.body)).toBe(200)
  return String(answer.body['subscriptionRequestCid'])
}

const accept = (client: HttpClient, request: string) =>
  client.post(`/v0/wallet/subscription-requests/${request}/accept`)

/** The entries of the user, once the validator's replica knows of one. */
async function ownEntries(client: HttpClient): Promise<unknown> {
  return until('the entry in the list of its owner', async () => {
    const { body } = await client.get('/v0/entry/all')
    return (body['entries'] as unknown[]).length > 0 ? body['entries'] : undefined
  })
}

describe('a registration', () => {
  it('of a user ends in a verified lookup', async ({ clientOf, lookup, network, found }) => {
    const client = await clientOf('alice')
    expect((await client.get('/v0/wallet/user-status')).body).toEqual({
      party_id: '',
      user_onboarded: false,
      user_wallet_installed: false,
      has_featured_app_right: false,
    })
    const party = (await client.post('/v0/register')).body['party_id']
    expect(party).toMatch(/^alice::1220[0-9a-f]{64}$/)
    expect((await client.post('/v0/register', 'null')).body).toEqual({ party_id: party })
    expect((await client.get('/v0/wallet/user-status')).body).toMatchObject({
      party_id: party,
      user_onboarded: true,
    })

    // 1.0001 USD at 0.005 USD a coin.
    expect(await client.post('/v0/wallet/tap', { amount: '1.0001' })).toAnswer(200)
    expect((await client.get('/v0/wallet/balance')).body).toEqual({
      round: 2,
      effective_unlocked_qty: '200.0200000000',
      effective_locked_qty: '0.0000000000',
      total_holding_fees: '0.0000000000',
    })

    const name = 'alice.unverified.ns'
    const fields = { name, url: 'https://alice.example/', description: 'Grüße 🎉' }
    const created = await client.post('/v0/entry/create', fields)
    expect(created.body).toEqual({
      entryContextCid: expect.stringMatching(/^00[0-9a-f]{64}$/),
      subscriptionRequestCid: expect.stringMatching(/^00[0-9a-f]{64}$/),
      ...fields,
    })
    const request = String(created.body['subscriptionRequestCid'])
    const requests = (await client.get('/v0/wallet/subscription-requests')).body
    expect(requests).toMatchObject({ subscription_requests: [{ contract_id: request }] })
    expect((await client.get(`/v0/wallet/subscription-requests/${request}`)).body).toMatchObject({
      contract_id: request,
      payload: { subscriptionData: { sender: party } },
    })
    expect((await client.get('/v0/entry/all')).body).toEqual({ entries: [], next_page_token: null })
    // The first lookups of processes that still load their code may take longer than a proxy waits for nodes.
    const absence = await until('an answer of enough nodes', async () => {
      const answer = await lookup(name)
      return answer.status === 502 ? undefined : answer
    })
    expect(absence).toAnswer(404, 'ENTRY_NOT_FOUND')

    network.setWorking(false)
    const accepted = await accept(client, request)
    expect(accepted).toAnswer(200)
    expect((await client.get('/v0/wallet/subscription-initial-payments')).body).toMatchObject({
      initial_payments: [{ contract_id: accepted.body['initial_payment_contract_id'] }],
    })
    expect((await client.get('/v0/wallet/balance')).body).toMatchObject({
      effective_unlocked_qty: '0.0200000000',
      effective_locked_qty: '200.0000000000',
    })
    expect((await client.get('/v0/wallet/coins')).body).toMatchObject({
      coins: [{ effective_amount: '0.0200000000', accrued_holding_fee: '0.0000000000' }],
      locked_coins: [
        {
          effective_amount: '200.0000000000',
          contract: { domain_id: network.genesis.synchronizerId },
        },
      ],
    })
    network.setWorking(true)

    const answer = await found(name)
    expect(answer.body).toMatchObject({ entry: { user: party, name, description: 'Grüße 🎉' } })
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      'x-quorum-outcome': 'verified',
      'x-quorum-threshold': '2',
      'x-quorum-dissented': '',
      'cache-control': 'no-store',
    })
    expect(await ownEntries(client)).toEqual([
      {
        contractId: expect.stringMatching(/^00/),
        name,
        amount: '1.0000000000',
        unit: 'USDUnit',
        expiresAt: expect.stringMatching(/^[0-9]{13}$/),
        paymentInterval: '7776000000000',
        paymentDuration: '2592000000000',
      },
    ])
    expect((await client.get('/v0/wallet/subscriptions')).body).toMatchObject({
      subscriptions: [{ state: { idle: { payload: { reference: request } } } }],
    })
    expect((await client.get('/v0/wallet/balance')).body).toMatchObject({
      effective_unlocked_qty: '0.0200000000',
      effective_locked_qty: '0.0000000000',
    })
    expect(failure(await accept(client, request))).toEqual({
      status: 409,
      code: 'CONTRACT_CONSUMED',
    })
  })

  it('is refused at once for a name that is taken, for any caller', async ({ registered }) => {
    const owner = await registered('taken-owner')
    await accept(owner.client, await requestName(owner.client, 'taken.unverified.ns'))
    await ownEntries(owner.client)
    const { client } = await registered('taken-other')
    const fields = { name: 'taken.unverified.ns', url: '', description: '' }
    const refused = await client.post('/v0/entry/create', fields)
    expect(failure(refused)).toEqual({ status: 409, code: 'NAME_TAKEN' })
    const expires_at = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/)
    expect(refused.body['details']).toEqual({ name: fields.name, expires_at })
  })
})

describe('bad input', () => {
  const lone = '"\\ud800"'
  it.for([
    ['alice.ns', '', '""', 'NAME_SUFFIX_MISSING'],
    ['Alice.unverified.ns', '', '""', 'INVALID_NAME'],
    ['.unverified.ns', '', '""', 'INVALID_NAME'],
    [`${'a'.repeat(47)}.unverified.ns`, '', '""', 'INVALID_NAME'],
    ['bad.unverified.ns', 'ftp://x', '""', 'INVALID_URL'],
    ['bad.unverified.ns', `https://${'x'.repeat(248)}`, '""', 'INVALID_URL'],
    ['bad.unverified.ns', '', lone, 'INVALID_DESCRIPTION'],
    ['bad.unverified.ns', '', `"${'d'.repeat(141)}"`, 'INVALID_DESCRIPTION'],
    ['bad.unverified.ns', '', '"a\\u202eb"', 'INVALID_DESCRIPTION'],
  ] as const)(
    'of a name is 400 with the rule: %s %s %s',
    async ([name, url, description, code], { registered }) => {
      const { client } = await registered('bad-names', null)
      const body = `{"name":${JSON.stringify(name)},"url":"${url}","description":${description}}`
      const answer = await client.post('/v0/entry/create', body)
      expect(failure(answer)).toEqual({ status: 400, code })
      expect(answer.body['details']).toEqual({ rule: expect.any(String) })
    },
  )

  it.for(['0', '-1', '1.00000000001', '1e3', 'x', '0.0000000000', '9'.repeat(28)])(
    'of a tap is 400: %s',
    async (amount, { registered }) => {
      const { client } = await registered('bad-taps', null)
      const answer = await client.post('/v0/wallet/tap', { amount })
      expect(failure(answer)).toEqual({ status: 400, code: 'INVALID_ARGUMENT' })
    },
  )

  it.for(['0', '1001', 'abc', '-1', '1.5', ''])(
    'of a page size is 400: %j',
    async (size, { anyone }) => {
      const answer = await anyone.get(`/v0/scan-proxy/ans-entries?page_size=${size}`)
      expect(failure(answer)).toEqual({ status: 400, code: 'INVALID_ARGUMENT' })
    },
  )

  it('is 400 for a page token, whatever the nodes answer', async ({ network, anyone }) => {
    const party = encodeURIComponent(network.genesis.dso)
    for (const list of ['', `/by-party/${party}/all`]) {
      const path = `/v0/scan-proxy/ans-entries${list}?page_size=1&page_token=AAAA`
      expect(failure(await anyone.get(path))).toEqual({ status: 400, code: 'INVALID_PAGE_TOKEN' })
    }
  })

  it('is 400 for a page without a size, and for a malformed party', async ({ anyone }) => {
    expect(failure(await anyone.get('/v0/scan-proxy/ans-entries'))).toAnswer(
      400,
      'INVALID_ARGUMENT',
    )
    const party = await anyone.get('/v0/scan-proxy/ans-entries/by-party/alice')
    expect(failure(party)).toEqual({ status: 400, code: 'INVALID_PARTY' })
  })

  it('is 401 for a token, and 404 for the wallet of an unknown user', async ({
    anyone,
    clientOf,
  }) => {
    const path = '/v0/wallet/balance'
    for (const authorization of ['', 'Bearer x', 'Bearer a.b.c', `Basic ${btoa('a:b')}`])
      expect(
        failure(await anyone.get(path, authorization === '' ? {} : { authorization })),
        authorization,
      ).toEqual({
        status: 401,
        code: 'UNAUTHENTICATED',
      })
    const stranger = await clientOf('stranger')
    expect(failure(await stranger.get(path))).toEqual({ status: 404, code: 'WALLET_NOT_FOUND' })
    const create = { name: 'x.unverified.ns', url: '', description: '' }
    expect(failure(await stranger.post('/v0/entry/create', create))).toAnswer(
      404,
      'WALLET_NOT_FOUND',
    )
  })
})

describe('paying', () => {
  it('is 400 without enough coin, and names the missing amount', async ({ registered }) => {
    const { client } = await registered('poor', '0.5')
    const answer = await accept(client, await requestName(client, 'poor.unverified.ns'))
    expect(failure(answer)).toEqual({ status: 400, code: 'INSUFFICIENT_FUNDS' })
    expect(answer.body['details']).toEqual({
      needed: '200.0000000000',
      available: '100.0000000000',
    })
  })

  it('accepts only requests of the user, and each once', async ({ registered, found }) => {
    const owner = await registered('request-owner')
    const thief = await registered('request-thief')
    const request = await requestName(owner.client, 'mine.unverified.ns')
    for (const action of ['accept', 'reject']) {
      const path = `/v0/wallet/subscription-requests/${request}/${action}`
      expect(failure(await thief.client.post(path)), action).toEqual({
        status: 404,
        code: 'CONTRACT_NOT_FOUND',
      })
    }
    const path = `/v0/wallet/subscription-requests/${request}`
    expect(await thief.client.get(path)).toAnswer(404, 'CONTRACT_NOT_FOUND')
    const unknown = await accept(owner.client, `00${'0'.repeat(64)}`)
    expect(failure(unknown)).toEqual({ status: 404, code: 'CONTRACT_NOT_FOUND' })
    expect(unknown.body['error']).toMatch(/^contract id not found: ContractId\(id = 00/)
    expect(await accept(owner.client, 'nonsense')).toAnswer(404, 'CONTRACT_NOT_FOUND')
    // A coin is not a payment request.
    const coins = (await owner.client.get('/v0/wallet/coins')).body as {
      coins: { contract: { contract: { contract_id: string } } }[]
    }
    const coin = coins.coins[0]?.contract.contract.contract_id ?? ''
    expect(await accept(owner.client, coin)).toAnswer(404, 'CONTRACT_NOT_FOUND')
    const untouched = { unlocked: '2000.0000000000', locked: '0.0000000000' }
    expect(await balanceOf(owner.client)).toEqual(untouched)
    const answers = await Promise.all([1, 2, 3].map(() => accept(owner.client, request)))
    expect(answers.map((answer) => answer.status).sort()).toEqual([200, 409, 409])
    await found('mine.unverified.ns')
    // Paid once, and by no other party.
    expect((await balanceOf(owner.client)).unlocked).toBe('1800.0000000000')
    expect(await balanceOf(thief.client)).toEqual(untouched)
  })

  it('can be rejected, once', async ({ registered }) => {
    const { client } = await registered('rejecting', null)
    const request = await requestName(client, 'rejected.unverified.ns')
    const reject = () => client.post(`/v0/wallet/subscription-requests/${request}/reject`)
    expect(await reject()).toAnswer(200)
    expect(failure(await reject())).toEqual({ status: 409, code: 'CONTRACT_CONSUMED' })
    expect(failure(await accept(client, request))).toAnswer(409, 'CONTRACT_CONSUMED')
    expect((await client.get('/v0/wallet/subscription-requests')).body).toEqual({
      subscription_requests: [],
    })
  })

  it('for more requests at once than coins spends each coin once', async ({ registered }) => {
    const { client } = await registered('many', null)
    for (const amount of ['1', '1.00000000000', '+001.'])
      expect(await client.post('/v0/wallet/tap', { amount })).toAnswer(200)
    const requests = await Promise.all(
      ['m1', 'm2', 'm3', 'm4'].map((label) => requestName(client, `${label}.unverified.ns`)),
    )
    const answers = await Promise.all(requests.map((request) => accept(client, request)))
    expect(answers.map((answer) => answer.status).sort()).toEqual([200, 200, 200, 400])
    expect((await client.get('/v0/wallet/balance')).body).toMatchObject({
      effective_unlocked_qty: '0.0000000000',
    })
  })

  it('counts a tap once for each command id', async ({ registered }) => {
    const { client } = await registered('tapping', null)
    const tap = () => client.post('/v0/wallet/tap', { amount: '1', command_id: 'once' })
    const first = await tap()
    expect(first).toAnswer(200)
    expect(await tap()).toMatchObject({ status: 200, body: first.body })
    const other = await client.post('/v0/wallet/tap', { amount: '2', command_id: 'once' })
    expect(failure(other)).toEqual({ status: 409, code: 'PAYMENT_DIFFERS' })
    expect((await client.get('/v0/wallet/balance')).body).toMatchObject({
      effective_unlocked_qty: '200.0000000000',
    })
  })
})

describe('users', () => {
  it('are made by administrators', async ({ admin, clientOf }) => {
    const { party_id: party } = (await admin.post('/v0/admin/users', { name: 'made' })).body
    expect(party).toMatch(/^made::1220/)
    expect((await admin.post('/v0/admin/users', { name: 'made' })).body).toEqual({
      party_id: party,
    })
    const made = await clientOf('made')
    expect((await made.post('/v0/register')).body).toEqual({ party_id: party })
    expect(failure(await made.post('/v0/admin/users', { name: 'other' }))).toEqual({
      status: 403,
      code: 'PERMISSION_DENIED',
    })
  })

  it('can share a party, which must be hosted here and is created on demand', async ({
    registered,
    admin,
  }) => {
    const { party } = await registered('shared', null)
    const create = (body: object) => admin.post('/v0/admin/users', body)
    expect((await create({ name: 'sharer', party_id: party })).body).toEqual({ party_id: party })
    const fresh = party.replace('shared::', 'fresh::')
    const input = { name: 'fresh-user', party_id: fresh }
    expect(failure(await create(input))).toAnswer(400, 'INVALID_ARGUMENT')
    expect((await create({ ...input, createPartyIfMissing: true })).body).toEqual({
      party_id: fresh,
    })
    expect(failure(await create({ ...input, party_id: party }))).toEqual({
      status: 409,
      code: 'USER_EXISTS',
    })
    const without = { name: 'partyless', createPartyIfMissing: false }
    expect(failure(await create(without))).toAnswer(400, 'INVALID_ARGUMENT')
    expect(await admin.get('/v2/users/partyless')).toAnswer(404)
    const own = await admin.get(`/v2/parties?filter-party=partyless`)
    expect(own.body['partyDetails']).toEqual([])
    expect((await create({ ...without, name: 'shared' })).body).toEqual({ party_id: party })
    expect(await create({ name: 'partyless' })).toAnswer(200)
    const elsewhere = `alice::1220${'0'.repeat(64)}`
    const foreign = { name: 'foreign', party_id: elsewhere, createPartyIfMissing: true }
    expect(failure(await create(foreign))).toAnswer(400, 'INVALID_ARGUMENT')
  })

  it('never get a party that was made for another user', async ({
    registered,
    admin,
    clientOf,
  }) => {
    const { party } = await registered('decoy', null)
    const given = party.replace('decoy::', 'victim::')
    const input = { name: 'thief', party_id: given, createPartyIfMissing: true }
    expect((await admin.post('/v0/admin/users', input)).body).toEqual({ party_id: given })
    const victim = await clientOf('victim')
    const own = (await victim.post('/v0/register')).body['party_id']
    expect(own).toBe(party.replace('decoy::', 'victim_n2::'))
    expect((await victim.post('/v0/register')).body['party_id']).toBe(own)
  })

  it('register once, even by many concurrent requests', async ({ clientOf }) => {
    const client = await clientOf('eager_user')
    const answers = await Promise.all([1, 2, 3, 4].map(() => client.post('/v0/register')))
    const parties = answers.map((answer) => answer.body['party_id'])
    expect(new Set(parties).size).toBe(1)
    expect(parties[0]).toMatch(/^eager__user::1220/)
  })

  it('that an administrator deleted register again only after it makes them again', async ({
    registered,
    admin,
  }) => {
    const { client, party } = await registered('removed', null)
    expect(await admin.delete('/v2/users/removed')).toAnswer(200)
    for (let round = 0; round < 2; round++)
      expect(failure(await client.post('/v0/register'))).toAnswer(403, 'PERMISSION_DENIED')
    expect(await admin.get('/v2/users/removed')).toAnswer(404)
    expect((await admin.post('/v0/admin/users', { name: 'removed' })).body).toEqual({
      party_id: party,
    })
    expect((await client.post('/v0/register')).body).toEqual({ party_id: party })
  })

  it('do not get back by registering what an administrator took away', async ({
    registered,
    admin,
  }) => {
    const { client, party } = await registered('withdrawn', null)
    const path = '/v2/users/withdrawn'
    const right = { kind: { CanActAs: { value: { party } } } }
    const body = { userId: 'withdrawn', identityProviderId: '', rights: [right] }
    expect(await admin.patch(`${path}/rights`, body)).toAnswer(200)
    const user = { id: 'withdrawn', primaryParty: '', isDeactivated: false, identityProviderId: '' }
    const change = { user, updateMask: { paths: ['primary_party'] } }
    expect(await admin.patch(path, change)).toAnswer(200)
    expect(failure(await client.post('/v0/register'))).toAnswer(403, 'PERMISSION_DENIED')
    expect((await admin.get(`${path}/rights`)).body).toEqual({ rights: [] })
    // The right to act as another party gives back nothing.
    const other = await registered('shared', null)
    const rights = [{ kind: { CanActAs: { value: { party: other.party } } } }]
    expect(await admin.post(`${path}/rights`, { ...body, rights })).toAnswer(200)
    expect(failure(await client.post('/v0/register'))).toAnswer(403, 'PERMISSION_DENIED')
    expect((await admin.get(`${path}/rights`)).body).toEqual({ rights })
    expect(await admin.post(`${path}/rights`, body)).toAnswer(200)
    expect((await client.post('/v0/register')).body).toEqual({ party_id: party })
  })

  it('start with `participant_admin`, the user of the validator itself', async ({ anyone }) => {
    expect((await anyone.get('/v0/validator-user')).body).toEqual({
      party_id: expect.stringMatching(/^participant__admin::1220[0-9a-f]{64}$/),
      user_name: 'participant_admin',
      featured: false,
    })
  })
})

describe('the scan proxy', () => {
  it('answers absence with verified-absent, and ignores tokens', async ({ lookup, anyone }) => {
    const answer = await lookup('unknown.unverified.ns', { authorization: 'Bearer nonsense' })
    expect(failure(answer)).toEqual({ status: 404, code: 'ENTRY_NOT_FOUND' })
    expect(answer.body['error']).toBe('No ans entry found for name: unknown.unverified.ns')
    expect(answer.headers.get('x-quorum-outcome')).toBe('verified-absent')
    const party = `unknown::1220${'0'.repeat(64)}`
    const byParty = await anyone.get(
      `/api/validator/v0/scan-proxy/ans-entries/by-party/${encodeURIComponent(party)}`,
    )
    expect(byParty.body['error']).toBe(`No ans entry found for party: ${party}`)
  })

  it('answers a batch at one offset, in order, also an empty one', async ({ network, anyone }) => {
    const { dso } = network.genesis
    const lookups = [{ name: 'unknown.ns' }, { party: dso }, { name: 'sv-2.sv.ns' }]
    const post = (body: object) =>
      anyone.post('/v0/scan-proxy/ans-entries/batch', body, { 'content-type': 'text/plain' })
    const answer = await post({ lookups })
    expect(answer.body).toMatchObject({
      results: [{ entry: null }, { entry: { name: 'dso.ns', user: dso } }, { entry: { url: '' } }],
    })
    expect(answer.headers.get('x-quorum-outcome')).toBe('verified')
    const empty = await post({ lookups: [] })
    expect(empty.body).toEqual({ results: [] })
    expect(Number(empty.headers.get('x-quorum-offset'))).toBeGreaterThanOrEqual(
      Number(answer.headers.get('x-quorum-offset')),
    )
  })

  it('reads other operations by quorum too', async ({ anyone, network }) => {
    const answer = await anyone.get('/v0/scan-proxy/dso-party-id?quorum=all')
    expect(answer.body).toEqual({ dso_party_id: network.genesis.dso })
    expect(answer.headers.get('x-quorum-threshold')).toBe('4')
  })

  it('refuses invalid thresholds, and waits for offsets that are not reached', async ({
    lookup,
  }) => {
    for (const quorum of ['1', '5', 'most'])
      expect(failure(await lookup('dso.ns', { 'x-quorum': quorum })), quorum).toEqual({
        status: 400,
        code: 'INVALID_QUORUM',
      })
    const future = await lookup('dso.ns', { 'x-min-offset': '1000000' })
    expect(failure(future)).toEqual({ status: 503, code: 'CONSENSUS_LAGGING' })
    expect(future.headers.get('retry-after')).not.toBeNull()
    expect(future.headers.get('x-quorum-outcome')).toBe('lagging')
  })
})

describe('a validator', () => {
  it('finds users, coin and names again after a restart', async ({
    registered,
    validator,
    anyone,
    clientOf,
  }) => {
    const { client, party } = await registered('returning')
    const balance = await client.get('/v0/wallet/balance')
    await validator.stop()
    await validator.start()
    await ready(anyone)
    const again = await clientOf('returning')
    expect((await again.post('/v0/register')).body).toEqual({ party_id: party })
    expect((await again.get('/v0/wallet/balance')).body).toEqual(balance.body)
    const operator = await anyone.get('/v0/validator-user')
    expect(operator.body).toMatchObject({ user_name: 'participant_admin' })
  })

  it('without the log answers lookups, and reports that its wallets wait', async ({ network }) => {
    await using redis = await startRedis(['--appendonly', 'yes', '--appendfsync', 'always'])
    const log = { ...network.config.log, url: 'http://127.0.0.1:1' }
    const config = { ...network.config, redis: { place: { path: redis.socketPath } }, log }
    // With a clock that is far ahead, the replica's record time is too old.
    await using behind = await startValidator(config, {
      logger,
      clock: createSystemClock(3_000_000_000),
    })
    const client = createHttpClient(behind.url, await network.token('alice'))
    for (const path of ['/api/validator/readyz', '/v0/wallet/balance', '/v0/entry/all'])
      expect(failure(await client.get(path)), path).toEqual({ status: 503, code: 'NOT_READY' })
    expect(failure(await client.post('/v0/register'))).toMatchObject({ code: 'NOT_READY' })
    expect(await client.get('/livez')).toAnswer(200)
    const ledger = await client.get('/readyz')
    expect([ledger.status, ledger.text]).toEqual([
      503,
      '[-] ledger failed (NOT_SERVING)\nreadyz check failed\n',
    ])
    expect((await client.get('/status')).body).toMatchObject({
      success: { id: 'validator', active: false, extra: { state: 'catching-up', offset: 0 } },
    })
    const path = '/v0/scan-proxy/ans-entries/by-name/dso.ns'
    expect(failure(await client.get(path))).toEqual({ status: 503, code: 'CONSENSUS_LAGGING' })
    const patient = await client.get(path, { 'x-max-age-ms': '10000000' })
    expect(patient.headers.get('x-quorum-outcome')).toBe('verified')
  })
})

describe('with two nodes of another history', () => {
  const HISTORY = '66'.repeat(32)
  const POSITION = ['offset', 'record-time', 'head', 'head-time'].map((name) => `x-ledger-${name}`)

  /** Answers at the address of a stopped node, as this node does, with another history hash. */
  const standIn = (url: string, honestUrl: string) =>
    until('the port to be free', () =>
      serve(
        async (request, response) => {
          const { method = 'GET', url: path } = request
          const body = method === 'POST' ? await readText(request) : null
          const answer = await fetch(`${honestUrl}${path}`, { method, body })
          for (const name of POSITION) response.setHeader(name, answer.headers.get(name) ?? '')
          const text = await answer.text()
          response.writeHead(answer.status, {
            'content-type': 'application/json',
            'content-length': Buffer.byteLength(text),
            'x-ledger-history-hash': HISTORY,
          })
          response.end(text)
        },
        { at: Number(new URL(url).port) },
      ).catch(() => undefined),
    )

  it('reports the fork, and reads are disputed', async ({ network, anyone, lookup }) => {
    const [honest = '', , ...others] = network.config.seeds
    const stopped = network.scans.slice(2)
    for (const scan of stopped) await scan.stop()
    const standIns = await Promise.all(others.map((url) => standIn(url, honest)))
    try {
      const fork = await until('the fork', async () => {
        await lookup('dso.ns')
        const { reader } = (await anyone.get('/status')).body.success.extra
        return reader.forks[0]
      })
      expect(fork.histories).toContainEqual({
        historyHash: HISTORY,
        // The order is that of the replies.
        nodes: expect.toSatisfy((nodes: string[]) => `${nodes.toSorted()}` === 'sv-3,sv-4'),
      })
      const strong = await lookup('dso.ns', { 'x-quorum': 'strong' })
      expect(failure(strong)).toEqual({ status: 502, code: 'CONSENSUS_DISPUTED' })
      expect(strong.body['error']).toMatch(
        /^Failed to reach consensus from 4 Scan nodes, requiring 3 matching responses\./,
      )
    } finally {
      await Promise.all(standIns.map((server) => server[Symbol.asyncDispose]()))
      for (const scan of stopped) await scan.start()
    }
    // The reader remembers the fork: reads at its offset are disputed until the log advances.
    await network.advance(1)
    await until('reads after the fork to be verified', async () => {
      const answer = await lookup('dso.ns', { 'x-quorum': 'all' })
      return answer.status === 200 ? answer : undefined
    })
  })
})

// Last, because it stops nodes.
describe('with nodes down', () => {
  it('answers while the threshold is met, and reports when it is not', async ({
    network,
    lookup,
  }) => {
    const [first, second, third] = network.scans
    await first?.stop()
    await second?.stop()
    expect((await lookup('dso.ns')).headers.get('x-quorum-outcome')).toBe('verified')
    const strong = await lookup('dso.ns', { 'x-quorum': 'strong' })
    expect(failure(strong)).toEqual({ status: 502, code: 'NOT_ENOUGH_NODES' })
    expect(strong.body['error']).toMatch(
      /^Only 2 scan instances can be used \(out of 4 configured ones\), which are fewer than the necessary 3 to achieve BFT guarantees\./,
    )
    await third?.stop()
    expect(failure(await lookup('dso.ns'))).toEqual({ status: 502, code: 'NOT_ENOUGH_NODES' })
  })
})
