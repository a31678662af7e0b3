/**
 * Subscriptions through the wallet, from the first payment to the last, over months of ledger time.
 *
 * @module-tag rest
 */
import type { HttpAnswer, HttpClient } from '@quorumscan/testkit'
import { describe, expect } from 'vitest'
import { balanceOf, failure } from './testing/test-validator.ts'
import { itInWorld } from './testing/world-fixtures.ts'

const MINUTE_MICROS = 60_000_000
const DAY_MICROS = 1_440 * MINUTE_MICROS
const NOWHERE = `00${'0'.repeat(64)}`

const it = itInWorld
  .extend(
    'active',
    ({ world }) =>
      (client: HttpClient) =>
        world.until('an entry', async () => (await entriesOf(client))[0]),
  )
  /** A name of the user's, and its subscription. */
  .extend(
    'named',
    ({ world, active }) =>
      async (user: string, options: { usd?: string; autoRenew?: boolean } = {}) => {
        const { client, party } = await world.registered(user, options.usd ?? '10.0')
        const name = `${user}.unverified.ns`
        const request = await requestName(client, name)
        const body = options.autoRenew === undefined ? {} : { auto_renew: options.autoRenew }
        expect(await accept(client, request, body)).toAnswer(200)
        await active(client)
        const [subscription] = await subscriptionsOf(client)
        if (subscription === undefined) throw new Error('an entry has a subscription')
        return { client, party, name, request, id: subscription.subscription.contract_id }
      },
  )
  .extend(
    'renewed',
    ({ world }) =>
      (client: HttpClient, before: string) =>
        world.until('a renewal', async () => {
          const [entry] = await entriesOf(client)
          return entry !== undefined && entry.expiresAt !== before ? entry.expiresAt : undefined
        }),
  )

async function requestName(client: HttpClient, name: string): Promise<string> {
  const answer = await client.post('/v0/entry/create', { name, url: '', description: '' })
  expect(answer.status, JSON.stringify(answer.body)).toBe(200)
  return String(answer.body['subscriptionRequestCid'])
}

const accept = (client: HttpClient, request: string, body?: object | null): Promise<HttpAnswer> =>
  client.post(`/v0/wallet/subscription-requests/${request}/accept`, body)

type Subscription = {
  subscription: { contract_id: string; payload: { reference: string } }
  state: { idle?: { contract_id: string }; payment?: { contract_id: string } }
  auto_renew: boolean
}

async function subscriptionsOf(client: HttpClient): Promise<Subscription[]> {
  return (await client.get('/v0/wallet/subscriptions')).body['subscriptions'] as Subscription[]
}

async function entriesOf(client: HttpClient) {
  const { body } = await client.get('/v0/entry/all')
  return (body['entries'] ?? []) as { name: string; contractId: string; expiresAt: string }[]
}

/** The two newest rows of the user's history. */
async function newestOf(client: HttpClient) {
  const { body } = await client.post('/v0/wallet/transactions', { page_size: 2 })
  return body['items'] as { transaction_subtype: { choice: string } }[]
}

const path = (id: string, action: string) => `/v0/wallet/subscriptions/${id}/${action}`

it('names and subscriptions are pages, the newest first, each once', async ({ world, active }) => {
  const { client } = await world.registered('paula', '40.0')
  const names: string[] = []
  for (let count = 0; count < 3; count++) {
    const name = `paula-${count}.unverified.ns`
    expect(await accept(client, await requestName(client, name))).toAnswer(200)
    await world.until(name, async () =>
      (await entriesOf(client)).some((entry) => entry.name === name) ? true : undefined,
    )
    names.unshift(name)
  }
  await active(client)
  const walk = async (path: string, member: string) => {
    const pages: unknown[][] = []
    for (let token = ''; ; ) {
      const { body } = await client.get(`${path}?page_size=1${token && `&page_token=${token}`}`)
      pages.push(body[member] as unknown[])
      if (body['next_page_token'] === null) return pages
      token = String(body['next_page_token'])
    }
  }
  const entries = (await walk('/v0/entry/all', 'entries')) as { name: string }[][]
  expect(entries.map((page) => page.map(({ name }) => name))).toEqual(names.map((name) => [name]))
  const whole = (await entriesOf(client)).map(({ name }) => name)
  expect(whole).toEqual(names)
  const subscriptions = await walk('/v0/wallet/subscriptions', 'subscriptions')
  expect(subscriptions.flat()).toEqual(await subscriptionsOf(client))
  expect(subscriptions.map((page) => page.length)).toEqual([1, 1, 1])
  // A token of a list by amount continues no other list.
  const { body } = await client.get('/v0/wallet/coins?page_size=1&order=amount')
  const other = body['next_page_token'] ?? 'AQ'
  expect(await client.get(`/v0/entry/all?page_token=${other}`)).toAnswer(400, 'INVALID_PAGE_TOKEN')
})

describe('a subscription', () => {
  it('is renewed while auto-renewal is on, lapses when it is off, and leaves the name to others', async ({
    world,
    active,
    renewed,
  }) => {
    world.network.setWorking(false)
    const { client } = await world.registered('carla', '5')
    const request = await requestName(client, 'carla.unverified.ns')
    expect(await accept(client, request, { auto_renew: true })).toAnswer(200)
    // The preference is known after any crash before the Subscription exists.
    await world.restart()
    world.network.setWorking(true)
    const again = await world.clientOf('carla')
    let { expiresAt } = await active(again)
    expect((await subscriptionsOf(again)).map((one) => one.auto_renew)).toEqual([true])

    for (const unlocked of ['600.0000000000', '400.0000000000']) {
      await world.network.advance(61 * DAY_MICROS)
      const next = await renewed(again, expiresAt)
      expect(Number(next) - Number(expiresAt)).toBe((90 * DAY_MICROS) / 1_000)
      expect(await balanceOf(again)).toEqual({ unlocked, locked: '0.0000000000' })
      expect((await newestOf(again)).map((item) => item.transaction_subtype.choice)).toEqual([
        'AnsRules_CollectEntryRenewalPayment',
        'SubscriptionIdleState_MakePayment',
      ])
      expiresAt = next
      await world.network.advance(29 * DAY_MICROS)
    }

    const [{ subscription } = { subscription: null }] = await subscriptionsOf(again)
    const off = await again.put(path(subscription?.contract_id ?? '', 'auto-renew'), {
      enabled: false,
    })
    expect(off.body).toEqual({ auto_renew: false })
    expect((await subscriptionsOf(again)).map((one) => one.auto_renew)).toEqual([false])
    await world.network.advance(89 * DAY_MICROS)
    await world.network.advance(1 * DAY_MICROS)
    expect(await entriesOf(again)).toEqual([])
    expect(await balanceOf(again)).toEqual({
      unlocked: '400.0000000000',
      locked: '0.0000000000',
    })
    // Earlier rows are older than the history that is kept (D-25: 90 days).
    expect(
      await world.until('the lapse to be reported', async () => {
        const items = await newestOf(again)
        return items.length > 0 ? items : undefined
      }),
    ).toMatchObject([
      {
        transaction_type: 'notification',
        transaction_subtype: { choice: 'SubscriptionIdleState_ExpireSubscription' },
        details: 'ANS entry: "carla.unverified.ns"',
      },
    ])
    const other = await world.registered('dario')
    const taken = await requestName(other.client, 'carla.unverified.ns')
    expect(await accept(other.client, taken)).toAnswer(200)
    expect(await active(other.client)).toMatchObject({ name: 'carla.unverified.ns' })
  })

  it('can be paid manually only within the window, only by its owner, and once', async ({
    named,
    world,
    active,
    renewed,
  }) => {
    const { client, id } = await named('pia', { usd: '2' })
    const other = await world.registered('paul')
    const pay = (by: HttpClient, contract = id) => by.post(path(contract, 'pay'))
    expect(failure(await pay(other.client))).toEqual({ status: 404, code: 'CONTRACT_NOT_FOUND' })
    expect(failure(await pay(client, NOWHERE))).toAnswer(404, 'CONTRACT_NOT_FOUND')
    expect(failure(await pay(client, 'nonsense'))).toAnswer(404, 'CONTRACT_NOT_FOUND')
    const early = await pay(client)
    expect(failure(early)).toEqual({ status: 409, code: 'CHOICE_REFUSED' })
    expect(early.body['details']).toMatchObject({ window_opens_at: expect.any(String) })
    expect(await balanceOf(client)).toEqual({ unlocked: '200.0000000000', locked: '0.0000000000' })

    const { expiresAt } = await active(client)
    await world.network.advance(60 * DAY_MICROS)
    world.network.setWorking(false)
    const paid = await pay(client)
    expect(paid.body).toEqual({ payment_contract_id: expect.stringMatching(/^00/) })
    const twice = await pay(client)
    expect(failure(twice)).toEqual({ status: 409, code: 'CHOICE_REFUSED' })
    expect(twice.body['details']).toEqual(paid.body)
    expect(await subscriptionsOf(client)).toMatchObject([
      { state: { payment: { contract_id: paid.body['payment_contract_id'] } } },
    ])
    // The entry exists during the renewal.
    expect(await entriesOf(client)).toMatchObject([{ expiresAt }])
    world.network.setWorking(true)
    await renewed(client, expiresAt)
    expect(await balanceOf(client)).toEqual({ unlocked: '0.0000000000', locked: '0.0000000000' })
    await world.network.advance(90 * DAY_MICROS)
    expect(failure(await pay(client))).toEqual({ status: 400, code: 'INSUFFICIENT_FUNDS' })
    world.network.setWorking(false) // No job ends it yet.
    await world.network.advance(30 * DAY_MICROS)
    expect(failure(await pay(client))).toEqual({ status: 409, code: 'CHOICE_REFUSED' })
    world.network.setWorking(true)
    await world.until('the end of the subscription', async () =>
      (await subscriptionsOf(client)).length === 0 ? true : undefined,
    )
    expect(failure(await pay(client))).toEqual({ status: 404, code: 'CONTRACT_NOT_FOUND' })
  })

  it('is cancelled by its owner, between payments; the name stays until it expires', async ({
    named,
    world,
  }) => {
    const { client, name, id } = await named('cem')
    const other = await world.registered('cora', null)
    const [{ state } = { state: {} as Subscription['state'] }] = await subscriptionsOf(client)
    const idle = state.idle?.contract_id ?? ''
    const cancel = (by: HttpClient, contract: string) =>
      by.delete(`/v0/wallet/subscription-requests/${contract}`)
    for (const [by, contract] of [
      [other.client, idle],
      [client, id],
      [client, NOWHERE],
    ] as const)
      expect(failure(await cancel(by, contract))).toEqual({
        status: 404,
        code: 'CONTRACT_NOT_FOUND',
      })
    const cancelled = await cancel(client, idle)
    expect([cancelled.status, cancelled.text]).toEqual([200, ''])
    expect(failure(await cancel(client, idle))).toAnswer(404, 'CONTRACT_NOT_FOUND')
    expect(await subscriptionsOf(client)).toEqual([])
    expect(await entriesOf(client)).toEqual([])
    // The proxy waits 2 s for its nodes, which a slow machine may exceed.
    await expect
      .poll(() => world.anyone().get(`/v0/scan-proxy/ans-entries/by-name/${name}`))
      .toAnswer(200)
    for (const action of ['pay', 'auto-renew'] as const) {
      const answer =
        action === 'pay'
          ? await client.post(path(id, action))
          : await client.put(path(id, action), { enabled: true })
      expect(failure(answer), action).toEqual({ status: 404, code: 'CONTRACT_NOT_FOUND' })
    }
  })

  it('keeps the preference of its owner against all other users, and against refused acceptances', async ({
    named,
    world,
  }) => {
    const { client, request, id } = await named('willa', { autoRenew: true })
    const other = await world.registered('wim', null)
    const put = (by: HttpClient, body: unknown) => by.put(path(id, 'auto-renew'), body)
    expect(failure(await put(other.client, { enabled: false }))).toAnswer(404, 'CONTRACT_NOT_FOUND')
    for (const body of [{}, { enabled: 'no' }, { enabled: null }, null, []])
      expect(failure(await put(client, body)).status, JSON.stringify(body)).toBe(400)
    expect(failure(await accept(client, request, { auto_renew: false }))).toAnswer(
      409,
      'CONTRACT_CONSUMED',
    )
    expect(failure(await accept(client, request, { auto_renew: 'yes' }))).toAnswer(
      400,
      'INVALID_ARGUMENT',
    )
    expect((await subscriptionsOf(client)).map((one) => one.auto_renew)).toEqual([true])
  })

  it('is not renewed while its user is deleted, deactivated or may not act, and is when an administrator lifts it', async ({
    world,
    admin,
    named,
    active,
    renewed,
  }) => {
    const deactivate = (id: string, isDeactivated: boolean) =>
      admin.patch(`/v2/users/${id}`, {
        user: { id, isDeactivated },
        updateMask: { paths: ['is_deactivated'] },
      })
    const rightsOf = (userId: string, party: string) => ({
      userId,
      rights: [{ kind: { CanActAs: { value: { party } } } }],
    })
    type Change = (id: string, party: string) => Promise<HttpAnswer>
    const takings: Readonly<Record<string, { readonly take: Change; readonly lift: Change }>> = {
      dora: {
        take: (id) => admin.delete(`/v2/users/${id}`),
        lift: (name) => admin.post('/v0/admin/users', { name }),
      },
      dino: {
        take: (id) => deactivate(id, true),
        lift: (id) => deactivate(id, false),
      },
      dina: {
        take: (id, party) => admin.patch(`/v2/users/${id}/rights`, rightsOf(id, party)),
        lift: (id, party) => admin.post(`/v2/users/${id}/rights`, rightsOf(id, party)),
      },
    }
    const taken = await Promise.all(
      Object.entries(takings).map(async ([id, changes]) => {
        const owner = await named(id, { autoRenew: true })
        const { expiresAt } = await active(owner.client)
        expect(await changes.take(id, owner.party)).toAnswer(200)
        return { ...owner, ...changes, id, expiresAt }
      }),
    )
    const [{ party: primaryParty } = { party: '' }] = taken
    const { rights } = rightsOf('colleague', primaryParty)
    const user = { id: 'colleague', primaryParty }
    expect(await admin.post('/v2/users', { user, rights })).toAnswer(200)
    const colleague = await world.clientOf('colleague')
    await world.network.advance(1 * DAY_MICROS)
    const other = await named('dirk', { autoRenew: true })
    const { expiresAt } = await active(other.client)

    await world.network.advance(59.5 * DAY_MICROS)
    await world.network.advance(1 * DAY_MICROS)
    // Its renewal was due later.
    await renewed(other.client, expiresAt)
    expect(await subscriptionsOf(colleague)).toMatchObject([{ state: { idle: {} } }])
    expect((await subscriptionsOf(colleague)).map((one) => one.auto_renew)).toEqual([false])
    for (const { id, party, lift } of taken) expect(await lift(id, party)).toAnswer(200)
    for (const one of taken)
      expect(await active(one.client)).toMatchObject({ expiresAt: one.expiresAt })
    expect((await subscriptionsOf(colleague)).map((one) => one.auto_renew)).toEqual([true])
    // They are tried again after a minute, or at a start.
    await world.restart()
    for (const one of taken) await renewed(one.client, one.expiresAt)
  })

  it('is not renewed unless its owner asks for it, after any refused acceptance', async ({
    world,
    active,
  }) => {
    const { client } = await world.registered('nora', '0.5')
    const request = await requestName(client, 'nora.unverified.ns')
    const poor = await accept(client, request, { auto_renew: true })
    expect(failure(poor)).toEqual({ status: 400, code: 'INSUFFICIENT_FUNDS' })
    expect(await client.post('/v0/wallet/tap', { amount: '10' })).toAnswer(200)
    expect(await accept(client, request, null)).toAnswer(200)
    await active(client)
    expect((await subscriptionsOf(client)).map((one) => one.auto_renew)).toEqual([false])
  })
})

describe("the user's names", () => {
  it('are all listed, the newest first, and those that expired are left out', async ({ world }) => {
    const { client } = await world.registered('lea', '10')
    const names = ['lea-2', 'lea-1', 'lea-3'].map((label) => `${label}.unverified.ns`)
    for (const [index, name] of names.entries()) {
      expect(await accept(client, await requestName(client, name))).toAnswer(200)
      await world.until(name, async () =>
        (await entriesOf(client)).length === index + 1 ? true : undefined,
      )
      await world.network.advance(20 * DAY_MICROS)
    }
    const listed = await entriesOf(client)
    expect(listed).toEqual(
      names.toReversed().map((name) => ({
        name,
        contractId: expect.stringMatching(/^00/),
        amount: '1.0000000000',
        unit: 'USDUnit',
        expiresAt: expect.stringMatching(/^\d{13}$/),
        paymentInterval: String(90 * DAY_MICROS),
        paymentDuration: String(30 * DAY_MICROS),
      })),
    )
    // No job runs: names expire only by time.
    world.network.setWorking(false)
    for (const left of [names.slice(1), names.slice(2), []]) {
      await world.network.advance((left.length === 2 ? 30 : 20) * DAY_MICROS)
      expect((await entriesOf(client)).map(({ name }) => name)).toEqual(left.toReversed())
    }
    world.network.setWorking(true)
  })
})

describe('the wallet automation', () => {
  it('returns uncollected payments without any super-validator', async ({ world }) => {
    const { client, party } = await world.registered('rita', '2')
    const receiver = await world.registered('remo', null)
    const request = await requestName(client, 'rita.unverified.ns')
    world.network.setWorking(false)
    expect(await accept(client, request)).toAnswer(200)
    const offered = await client.post('/v0/wallet/token-standard/transfers', {
      receiver_party_id: receiver.party,
      amount: '50',
      description: '',
      expires_at: world.network.clock.nowMicros() + 5 * MINUTE_MICROS,
      tracking_id: 'to remo',
    })
    expect(offered.status, JSON.stringify(offered.body)).toBe(200)
    expect(party).toMatch(/^rita::/)
    expect(await balanceOf(client)).toEqual({
      unlocked: '150.0000000000',
      locked: '250.0000000000',
    })
    await world.network.advance(31 * MINUTE_MICROS)
    await world.until('the refunds', async () =>
      (await balanceOf(client)).unlocked === '400.0000000000' ? true : undefined,
    )
    expect((await balanceOf(client)).locked).toBe('0.0000000000')
    const transfers = await receiver.client.get('/v0/wallet/token-standard/transfers')
    expect(transfers.body).toEqual({ transfers: [], next_page_token: null })
    const byStep = (await newestOf(client)).toSorted((a, b) =>
      a.transaction_subtype.choice < b.transaction_subtype.choice ? -1 : 1,
    )
    expect(byStep).toEqual([
      {
        transaction_type: 'balance_change',
        transaction_subtype: {
          template_id: expect.stringMatching(/:SubscriptionInitialPayment$/),
          choice: 'SubscriptionInitialPayment_Expire',
          coin_operation: null,
          interface_id: null,
        },
        event_id: expect.stringMatching(/^\d{16}:1000$/),
        date: expect.stringMatching(/Z$/),
        receivers: [{ party, amount: '200.0000000000' }],
        transfer_instruction_cid: null,
      },
      {
        transaction_type: 'balance_change',
        transaction_subtype: expect.objectContaining({ choice: 'TransferInstruction_Expire' }),
        event_id: expect.stringMatching(/^\d{16}:1000$/),
        date: expect.stringMatching(/Z$/),
        receivers: [],
        transfer_instruction_cid: (offered.body['output'] as { transfer_instruction_cid: string })
          .transfer_instruction_cid,
      },
    ])
    world.network.setWorking(true)
  })
})
