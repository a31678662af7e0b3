/** Transfers and the history of the wallet; bad input does not move coin. */
import { randomUUID } from 'node:crypto'
import type { HttpClient } from '@quorumscan/testkit'
import { describe, expect } from 'vitest'
import { balanceOf, failure, type TestUser } from './testing/test-validator.ts'
import { itInWorld } from './testing/world-fixtures.ts'

const MINUTE_MICROS = 60_000_000
const DAY_MICROS = 86_400_000_000
const NOWHERE = `00${'0'.repeat(64)}`
const PATH = '/v0/wallet/token-standard/transfers'

const it = itInWorld
  .extend('offerOf', ({ world }) => (receiver: string, amount: string, more: object = {}) => {
    return {
      receiver_party_id: receiver,
      amount,
      description: 'für 🍰',
      expires_at: world.network.clock.nowMicros() + 10 * MINUTE_MICROS,
      tracking_id: `tracking ${randomUUID()}`,
      ...more,
    }
  })
  .extend(
    'offer',
    ({ offerOf }) =>
      async (from: TestUser, to: TestUser, amount: string): Promise<string> => {
        const answer = await from.client.post(PATH, offerOf(to.party, amount))
        expect(answer.status, JSON.stringify(answer.body)).toBe(200)
        const { output } = answer.body as { output: { transfer_instruction_cid: string } }
        return output.transfer_instruction_cid
      },
  )

const end = (client: HttpClient, id: string, action: string) =>
  client.post(`${PATH}/${id}/${action}`)

async function transfersOf({ client }: TestUser): Promise<{ contract_id: string }[]> {
  return (await client.get(PATH)).body['transfers'] as { contract_id: string }[]
}

describe('an offer', () => {
  it('is seen by both parties, and accepted by the receiver, once', async ({ world, offer }) => {
    const [alice, bob] = [await world.registered('alice', '1'), await world.registered('bob', null)]
    const id = await offer(alice, bob, '30.5')
    expect(await balanceOf(alice.client)).toEqual({
      unlocked: '169.5000000000',
      locked: '30.5000000000',
    })
    for (const person of [alice, bob])
      expect(await transfersOf(person)).toMatchObject([
        {
          contract_id: id,
          payload: { transfer: { sender: alice.party, description: 'für 🍰' } },
        },
      ])
    const accepted = await end(bob.client, id, 'accept')
    expect(accepted.body).toEqual({
      output: { receiver_holding_cids: [expect.stringMatching(/^00/)] },
      sender_change_cids: [],
      meta: {
        update_id: expect.stringMatching(/^1220/),
        offset: expect.stringMatching(/^\d+$/),
        record_time: expect.stringMatching(/Z$/),
      },
    })
    expect((await balanceOf(bob.client)).unlocked).toBe('30.5000000000')
    expect(await balanceOf(alice.client)).toEqual({
      unlocked: '169.5000000000',
      locked: '0.0000000000',
    })
    expect(failure(await end(bob.client, id, 'accept'))).toEqual({
      status: 409,
      code: 'DUPLICATE_COMMAND',
    })
    for (const [person, action] of [
      [bob, 'reject'],
      [alice, 'withdraw'],
    ] as const)
      expect(failure(await end(person.client, id, action)), action).toEqual({
        status: 404,
        code: 'CONTRACT_NOT_FOUND',
      })
    expect(await transfersOf(bob)).toEqual([])
  })

  it.for(['reject', 'withdraw'])('returns the coin after %s', async (action, { world, offer }) => {
    const [sender, receiver] = [
      await world.registered(`s-${action}`, '1'),
      await world.registered(`r-${action}`, null),
    ]
    const id = await offer(sender, receiver, '200')
    const [right, wrong] = action === 'reject' ? [receiver, sender] : [sender, receiver]
    const stranger = await world.registered(`x-${action}`, null)
    expect(failure(await end(stranger.client, id, action))).toAnswer(404, 'CONTRACT_NOT_FOUND')
    expect(failure(await end(wrong.client, id, action))).toAnswer(403, 'PERMISSION_DENIED')
    expect(failure(await end(sender.client, id, 'accept'))).toAnswer(403, 'PERMISSION_DENIED')
    expect((await end(right.client, id, action)).body).toMatchObject({
      output: {},
      sender_change_cids: [],
      meta: { update_id: expect.any(String) },
    })
    expect(await balanceOf(sender.client)).toEqual({
      unlocked: '200.0000000000',
      locked: '0.0000000000',
    })
    expect(failure(await end(right.client, id, action))).toAnswer(409, 'DUPLICATE_COMMAND')
  })

  it('cannot be accepted after expiry, and returns its locked coin', async ({ world, offer }) => {
    const [sender, receiver] = [
      await world.registered('late-sender', '1'),
      await world.registered('late-receiver', null),
    ]
    const id = await offer(sender, receiver, '200')
    await world.network.advance(10 * MINUTE_MICROS)
    await world.until('the refund', async () =>
      (await balanceOf(sender.client)).unlocked === '200.0000000000' ? true : undefined,
    )
    expect((await balanceOf(receiver.client)).unlocked).toBe('0.0000000000')
    expect(failure(await end(receiver.client, id, 'accept'))).toEqual({
      status: 404,
      code: 'CONTRACT_NOT_FOUND',
    })
  })

  it('spends no coin twice among concurrent offers, and is made once for each tracking id', async ({
    world,
    offerOf,
  }) => {
    const [sender, receiver] = [
      await world.registered('busy-sender', '1'),
      await world.registered('busy-receiver', null),
    ]
    const same = offerOf(receiver.party, '60')
    const answers = await Promise.all(
      [same, same, same, offerOf(receiver.party, '60'), offerOf(receiver.party, '60')].map((body) =>
        sender.client.post(PATH, body),
      ),
    )
    expect(answers.map((answer) => answer.status).sort()).toEqual([200, 200, 200, 409, 409])
    // A repetition is refused as a duplicate, although no coin is left either.
    expect(failure(await sender.client.post(PATH, same))).toEqual({
      status: 409,
      code: 'DUPLICATE_COMMAND',
    })
    expect(await balanceOf(sender.client)).toEqual({
      unlocked: '20.0000000000',
      locked: '180.0000000000',
    })
  })

  it('a repeat has the first result, also after the period and the expiry, and no other content', async ({
    world,
    offerOf,
  }) => {
    const [sender, receiver] = [
      await world.registered('repeating', '1'),
      await world.registered('repeated', null),
    ]
    const { genesis, clock } = world.network
    const body = offerOf(receiver.party, '60', { expires_at: clock.nowMicros() + 3 * DAY_MICROS })
    const first = await sender.client.post(PATH, body)
    expect(first).toAnswer(200)
    const differs = await sender.client.post(PATH, { ...body, amount: '61' })
    expect(failure(differs)).toEqual({ status: 409, code: 'PAYMENT_DIFFERS' })
    const repeat = async () => {
      const again = await sender.client.post(PATH, { ...body, amount: '60.00' })
      expect(failure(again)).toEqual({ status: 409, code: 'DUPLICATE_COMMAND' })
      return again.body['details']
    }
    const details = await repeat()
    expect(details).toMatchObject({
      update_id: expect.stringMatching(/^1220[0-9a-f]{64}$/),
      offset: expect.any(Number),
      result: first.body,
    })
    await world.network.advance(genesis.deduplicationMicrosMax + MINUTE_MICROS)
    expect(await repeat()).toEqual(details)
    await world.restart()
    expect(await repeat()).toEqual(details)
    // The offer has expired, its coin is back, and the record lives for a day more.
    await world.network.advance(2 * DAY_MICROS)
    expect(await repeat()).toEqual(details)
  })

  it('expires within 30 days', async ({ world, offerOf }) => {
    const sender = await world.registered('patient', '1')
    const expires_at = world.network.clock.nowMicros() + 30 * DAY_MICROS + MINUTE_MICROS
    const answer = await sender.client.post(PATH, offerOf(sender.party, '1', { expires_at }))
    expect(answer).toMatchObject({
      status: 400,
      body: { details: { path: 'body.expires_at', rule: 'must be at most 30 days ahead' } },
    })
  })

  it('to oneself moves coin at once, and merges coins into one', async ({ world, offerOf }) => {
    const self = await world.registered('self', '1')
    for (let i = 0; i < 2; i++) await self.client.post('/v0/wallet/tap', { amount: '1' })
    const answer = await self.client.post(PATH, offerOf(self.party, '600'))
    expect(answer.body).toMatchObject({
      output: { receiver_holding_cids: [expect.any(String)] },
      sender_change_cids: [],
    })
    const { coins } = (await self.client.get('/v0/wallet/coins')).body as { coins: object[] }
    expect(coins).toMatchObject([{ effective_amount: '600.0000000000' }])
  })
})

describe('a page', () => {
  type Page = {
    readonly transfers: readonly {
      contract_id: string
      payload: { transfer: { amount: string } }
    }[]
    readonly next_page_token: string | null
  }

  it('of offers: the newest or the largest first, each once, also while others end', async ({
    world,
    offer,
  }) => {
    const [payer, dust, me] = [
      await world.registered('payer', '1'),
      await world.registered('dust', '1'),
      await world.registered('me', null),
    ]
    const real = await offer(payer, me, '30')
    const small: string[] = []
    for (let count = 0; count < 5; count++) small.push(await offer(dust, me, `0.${count + 1}`))
    const read = async (query: string) => (await me.client.get(`${PATH}?${query}`)).body as Page
    const largest = await read('order=amount&page_size=1')
    expect(largest.transfers).toMatchObject([{ contract_id: real }])
    const fromPayer = await read(`sender=${payer.party}`)
    expect(fromPayer).toMatchObject({ transfers: [{ contract_id: real }], next_page_token: null })
    const fromDust = await read(`sender=${dust.party}&order=amount`)
    expect(fromDust.transfers.map((one) => one.contract_id)).toEqual(small.toReversed())

    for (const order of ['newest', 'amount']) {
      const seen: string[] = []
      for (let token: string | null = ''; token !== null; ) {
        const next: Page = await read(
          `order=${order}&page_size=2${token === '' ? '' : `&page_token=${token}`}`,
        )
        seen.push(...next.transfers.map((one) => one.contract_id))
        token = next.next_page_token
        // It was shown before, so the walk goes on behind it.
        if (order === 'amount' && seen.length === 2) await end(payer.client, real, 'withdraw')
      }
      expect(seen).toEqual(
        order === 'newest' ? [...small.toReversed(), real] : [real, ...small.toReversed()],
      )
    }
    const token = (await read('page_size=1')).next_page_token
    for (const query of ['page_token=AA!', `page_token=${token}&order=amount`, 'page_token=AQ'])
      expect((await me.client.get(`${PATH}?${query}`)).status, query).toBe(400)
  })

  it('of coins has both kinds; the balance is their sum', async ({ world, offer }) => {
    const [alice, bob] = [await world.registered('pages', '1'), await world.registered('to', null)]
    await alice.client.post('/v0/wallet/tap', { amount: '2' })
    await offer(alice, bob, '50')
    type Coins = {
      readonly coins: readonly { effective_amount: string }[]
      readonly locked_coins: readonly { effective_amount: string }[]
      readonly next_page_token: string | null
    }
    const found = { coins: [] as string[], locked: [] as string[] }
    for (let token: string | null = ''; token !== null; ) {
      const more = token === '' ? '' : `&page_token=${token}`
      const path = `/v0/wallet/coins?order=amount&page_size=1${more}`
      const page = (await alice.client.get(path)).body as Coins
      expect(page.coins.length + page.locked_coins.length).toBe(1)
      found.coins.push(...page.coins.map((one) => one.effective_amount))
      found.locked.push(...page.locked_coins.map((one) => one.effective_amount))
      token = page.next_page_token
    }
    expect(found.locked).toEqual(['50.0000000000'])
    expect(found.coins).toEqual(found.coins.toSorted((a, b) => Number(b) - Number(a)))
    const sum = (all: readonly string[]) => all.reduce((total, one) => total + Number(one), 0)
    const { unlocked, locked } = await balanceOf(alice.client)
    expect([sum(found.coins), sum(found.locked)]).toEqual([Number(unlocked), Number(locked)])
  })
})

describe('bad input does not move coin', () => {
  it('of an offer', async ({ world, offerOf }) => {
    const [sender, receiver] = [
      await world.registered('bad-sender', '1'),
      await world.registered('bad-receiver', null),
    ]
    const unknown = `unknown::1220${'0'.repeat(64)}`
    const past = world.network.clock.nowMicros() - 1
    for (const [more, status, code] of [
      [{ amount: '-1' }, 400, 'INVALID_ARGUMENT'],
      [{ amount: '0' }, 400, 'INVALID_ARGUMENT'],
      [{ amount: '0.0000000000' }, 400, 'INVALID_ARGUMENT'],
      [{ amount: '1.00000000001' }, 400, 'INVALID_ARGUMENT'],
      [{ amount: '1e1' }, 400, 'INVALID_ARGUMENT'],
      [{ amount: 1 }, 400, 'INVALID_ARGUMENT'],
      [{ amount: '9'.repeat(29) }, 400, 'INVALID_ARGUMENT'],
      [{ amount: '200.0000000001' }, 400, 'INSUFFICIENT_FUNDS'],
      [{ amount: '9'.repeat(28) }, 400, 'INSUFFICIENT_FUNDS'],
      [{ receiver_party_id: 'bob' }, 400, 'INVALID_PARTY'],
      [{ receiver_party_id: unknown }, 400, 'INVALID_ARGUMENT'],
      [{ receiver_party_id: world.network.genesis.dso }, 400, 'INVALID_ARGUMENT'],
      [{ expires_at: past }, 400, 'INVALID_ARGUMENT'],
      [{ expires_at: -1 }, 400, 'INVALID_ARGUMENT'],
      [{ expires_at: 1.5 }, 400, 'INVALID_ARGUMENT'],
      [{ expires_at: '1' }, 400, 'INVALID_ARGUMENT'],
      [{ expires_at: 2 ** 53 }, 400, 'INVALID_ARGUMENT'],
      [{ description: 'd'.repeat(1025) }, 400, 'INVALID_ARGUMENT'],
      [{ description: '🍰'.repeat(513) }, 400, 'INVALID_ARGUMENT'],
      [{ description: '\ud800' }, 400, 'INVALID_ARGUMENT'],
      [{ description: null }, 400, 'INVALID_ARGUMENT'],
      [{ tracking_id: '' }, 400, 'INVALID_ARGUMENT'],
      [{ tracking_id: '\udc00' }, 400, 'INVALID_ARGUMENT'],
      [{ tracking_id: undefined }, 400, 'INVALID_ARGUMENT'],
    ] as const) {
      const answer = await sender.client.post(PATH, offerOf(receiver.party, '1', more))
      expect(failure(answer), JSON.stringify(more)).toEqual({ status, code })
    }
    expect(await balanceOf(sender.client)).toEqual({
      unlocked: '200.0000000000',
      locked: '0.0000000000',
    })
    expect(await transfersOf(sender)).toEqual([])
  })

  it('of an answer to an offer', async ({ world, offer }) => {
    const [sender, receiver] = [
      await world.registered('answer-sender', '1'),
      await world.registered('answer-receiver', null),
    ]
    await offer(sender, receiver, '10')
    const { coins } = (await sender.client.get('/v0/wallet/coins')).body as {
      coins: { contract: { contract: { contract_id: string } } }[]
    }
    const coin = coins[0]?.contract.contract.contract_id ?? ''
    for (const action of ['accept', 'reject', 'withdraw'])
      for (const id of [NOWHERE, 'nonsense', coin, '%00'])
        expect(failure(await end(sender.client, id, action)), `${action} ${id}`).toEqual({
          status: 404,
          code: 'CONTRACT_NOT_FOUND',
        })
    expect(await balanceOf(sender.client)).toEqual({
      unlocked: '190.0000000000',
      locked: '10.0000000000',
    })
    const stranger = await world.clientOf('stranger')
    expect(failure(await stranger.get(PATH))).toEqual({ status: 404, code: 'WALLET_NOT_FOUND' })
    expect(failure(await world.anyone().get(PATH))).toAnswer(401, 'UNAUTHENTICATED')
  })
})

describe('the history', () => {
  type Item = { transaction_type: string; event_id: string; receivers: object[] }
  const page = async (client: HttpClient, body: object) => {
    const answer = await client.post('/v0/wallet/transactions', body)
    expect(answer.status, JSON.stringify(answer.body)).toBe(200)
    return answer.body['items'] as Item[]
  }

  it('lists the transfers of coin, newest first, for its stakeholders', async ({
    world,
    offer,
  }) => {
    const [hanna, hugo] = [
      await world.registered('hanna', '1'),
      await world.registered('hugo', null),
    ]
    const taken = await offer(hanna, hugo, '30')
    await end(hugo.client, taken, 'accept')
    const refused = await offer(hanna, hugo, '5')
    await end(hugo.client, refused, 'reject')
    const items = await page(hanna.client, { page_size: 10 })
    const none = {
      transfer_instruction_receiver: null,
      transfer_instruction_amount: null,
      transfer_instruction_cid: null,
      description: null,
    }
    const offered = (amount: string, id: string) => ({
      transaction_type: 'transfer',
      transaction_subtype: { choice: 'CoinRules_CreateTransferInstruction' },
      sender: { party: hanna.party, amount: '0.0000000000' },
      receivers: [{ party: hanna.party, amount }],
      transfer_instruction_receiver: hugo.party,
      transfer_instruction_amount: amount,
      transfer_instruction_cid: id,
      description: 'für 🍰',
    })
    expect(items).toMatchObject([
      {
        transaction_type: 'balance_change',
        transaction_subtype: { choice: 'TransferInstruction_Reject' },
        receivers: [],
        transfer_instruction_cid: refused,
      },
      offered('5.0000000000', refused),
      {
        ...none,
        transaction_type: 'transfer',
        transaction_subtype: { choice: 'TransferInstruction_Accept' },
        sender: { party: hanna.party, amount: '-30.0000000000' },
        receivers: [{ party: hugo.party, amount: '30.0000000000' }],
        transfer_instruction_cid: taken,
      },
      offered('30.0000000000', taken),
      {
        transaction_type: 'balance_change',
        transaction_subtype: { choice: 'CoinRules_DevNet_Tap' },
        receivers: [{ party: hanna.party, amount: '200.0000000000' }],
      },
    ])
    const ids = (list: Item[]) => list.map((item) => item.event_id)
    // Only she sees the tap.
    expect(ids(await page(hugo.client, { page_size: 10 }))).toEqual(ids(items).slice(0, 4))

    const pages: Item[] = []
    for (let after = ''; ; after = pages.at(-1)?.event_id ?? '') {
      const next = await page(hanna.client, { page_size: 2, begin_after_id: after })
      if (next.length === 0) break
      pages.push(...next)
      // Rows that arrive meanwhile are newer than all later pages.
      await hanna.client.post('/v0/wallet/tap', { amount: '1' })
    }
    expect(ids(pages)).toEqual(ids(items))
  })

  it.for([
    [{}],
    [{ page_size: 0 }],
    [{ page_size: 1001 }],
    [{ page_size: '10' }],
    [{ page_size: 1, begin_after_id: '7' }],
    [{ page_size: 1, begin_after_id: 7 }],
  ] as const)('is not shown to %j', async ([body], { world }) => {
    const { client } = await world.registered('curious', null)
    const answer = await client.post('/v0/wallet/transactions', body)
    expect(failure(answer)).toEqual({ status: 400, code: 'INVALID_ARGUMENT' })
  })
})
