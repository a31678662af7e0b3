/** The activity history of four scan nodes: every kind of row, field by field, and walks through it. */
import { scanRoutes } from '@quorumscan/api'
import {
  acceptTransferCommand,
  createTransferInstructionCommand,
  rejectTransferCommand,
  tapCommand,
  withdrawTransferCommand,
} from '@quorumscan/ledger'
import { AMOUNT_SCALE, type ContractId } from '@quorumscan/model'
import { send, until, untilTrue } from '@quorumscan/testkit'
import { it as base } from '@quorumscan/testkit/fixtures'
import { formatInstant } from '@quorumscan/verifier'
import { Compile } from 'typebox/compile'
import { describe, expect } from 'vitest'
import { startNetwork, type Wallet } from './testing/network.ts'

type Row = {
  readonly event_id: string
  readonly activity_type: string
  readonly [x: string]: unknown
}

const HOUR_MICROS = 3_600_000_000
const ZERO = '0.0000000000'
const NO_FEES = {
  sender_change_fee: ZERO,
  sender_fee: ZERO,
  holding_fees: ZERO,
  input_app_reward_amount: ZERO,
  input_validator_reward_amount: ZERO,
  input_sv_reward_amount: ZERO,
  input_validator_faucet_amount: ZERO,
}
const NO_KIND = { transfer: null, mint: null, tap: null, abort_transfer_instruction: null }
const NO_OFFER = {
  description: null,
  transferInstructionReceiver: null,
  transferInstructionAmount: null,
  transferInstructionCid: null,
  transfer_kind: null,
}
const isAnswer = Compile(scanRoutes.listActivities.response)

const it = base
  .extend('network', { scope: 'file' }, async ({ fileResources }) =>
    // Older than a tick of ten minutes: the first round closes at once.
    fileResources.opened(await startNetwork(4, {}, 11 * 60_000_000)),
  )
  .extend('nodes', { scope: 'file' }, async ({ network, fileResources }) => {
    const started = network.genesis.nodes.map((_, index) => network.startNode(index))
    const nodes = (await Promise.all(started)).map((node) => fileResources.opened(node))
    // A node may prune offset 0 before it has answered there.
    for (const { url } of nodes)
      await untilTrue(
        `${url} to be ready`,
        async () => (await send(`${url}/readyz`)).status === 200,
      )
    return nodes
  })
  .extend(
    'post',
    ({ nodes }) =>
      (body: unknown, options: { node?: number; headers?: Record<string, string> } = {}) => {
        const { node = 0, headers = {} } = options
        return send(`${nodes[node]?.url}/v0/activities`, { method: 'POST', body, headers })
      },
  )
  .extend('list', ({ post }) => async (body: Record<string, unknown>): Promise<readonly Row[]> => {
    const { status, text, body: answer } = await post(body)
    expect(status, text).toBe(200)
    expect(isAnswer.Check(answer), JSON.stringify(isAnswer.Errors(answer)[0])).toBe(true)
    return answer.activities
  })
  /** Rows after an event id, once the condition holds for them. */
  .extend(
    'rowsBehind',
    ({ list }) =>
      (id: string, isEnough: (rows: readonly Row[]) => boolean) =>
        until('the rows', async () => {
          const rows = await list({ page_size: 1000, begin_after_id: id })
          return isEnough(rows) ? rows : undefined
        }),
  )
  /** The offset of a submission, and the result of its command. */
  .extend('placeOf', ({ network }) => (done: Awaited<ReturnType<Wallet['submit']>>) => {
    const [root] = done.update.events
    if (root?.kind !== 'exercised') throw new Error('the root is an exercise')
    const place = {
      event_id: `${String(done.offset).padStart(16, '0')}:0000`,
      date: formatInstant(done.recordTime),
      domain_id: network.genesis.synchronizerId,
      offset: String(done.offset),
    }
    return { place, result: root.result as Record<string, unknown> }
  })

const coinRules = async (wallet: Wallet) =>
  (await wallet.idsOf('singleton:CoinRules'))[0] as ContractId

async function tap(wallet: Wallet, coin: bigint) {
  const amount = coin * AMOUNT_SCALE
  return wallet.submit(
    tapCommand({ coinRules: await coinRules(wallet), receiver: wallet.party, amount }),
  )
}

describe('the activity history of a network', () => {
  it('closing a round adds one mint for each super-validator', async ({
    rowsBehind,
    nodes,
    network,
  }) => {
    const rows = await rowsBehind('', (found) => found.length >= 4)
    const dso = (await send(`${nodes[0]?.url}/v0/dso`)).body.dso_rules.contract.payload
    const { offset, date } = rows[0] as Row
    expect(rows.slice(0, 4)).toEqual(
      dso.svs.map(({ party }: { party: string }, index: number) => ({
        ...NO_KIND,
        activity_type: 'mint',
        event_id: `${String(offset).padStart(16, '0')}:${String(index).padStart(4, '0')}`,
        date,
        domain_id: network.genesis.synchronizerId,
        offset,
        round: 0,
        mint: { coin_owner: party, coin_amount: '10.0000000000' },
      })),
    )
    expect(date).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/)
  })

  it('shows every field of a tap, offers and a registration', async ({
    network,
    placeOf,
    rowsBehind,
    list,
  }) => {
    const [alice, bob] = [await network.createWallet('alice'), await network.createWallet('bob')]
    const tapped = placeOf(await tap(alice, 50n))
    const offer = async (amount: bigint, description: string) =>
      placeOf(
        await alice.submit(
          createTransferInstructionCommand({
            coinRules: await coinRules(alice),
            sender: alice.party,
            receiver: bob.party,
            amount: amount * AMOUNT_SCALE,
            inputs: await alice.idsOf(`party:Coin:${alice.party}`),
            executeBefore: network.clock.nowMicros() + HOUR_MICROS,
            description,
            trackingId: 't',
          }),
        ),
      )
    const instructionOf = (made: { result: Record<string, unknown> }) =>
      made.result['transferInstructionCid'] as ContractId
    const first = await offer(10n, 'für "bob" 🎉')
    const accepted = placeOf(
      await bob.submit(acceptTransferCommand({ instruction: instructionOf(first) })),
    )
    const second = await offer(40n, '')
    const rejected = placeOf(
      await bob.submit(rejectTransferCommand({ instruction: instructionOf(second) })),
    )
    const third = await offer(5n, '')
    const withdrawn = placeOf(
      await alice.submit(withdrawTransferCommand({ instruction: instructionOf(third) })),
    )
    await bob.pay({ name: 'bob.unverified.ns' })
    const isOfDso = (row: Row) => JSON.stringify(row).includes(`"party":"${network.genesis.dso}"`)

    const rows = await rowsBehind(tapped.place.event_id, (found) => found.some(isOfDso))
    const self = await list({
      page_size: 1,
      begin_after_id: (rows[0] as Row).event_id,
      sort_order: 'desc',
    })
    expect(self).toEqual([
      {
        ...NO_KIND,
        ...tapped.place,
        activity_type: 'devnet_tap',
        round: 3,
        tap: { coin_owner: alice.party, coin_amount: '50.0000000000' },
      },
    ])
    const made = (
      of: typeof first,
      amount: string,
      sums: { input: string; change: string; description: string | null },
    ) => ({
      ...NO_KIND,
      ...of.place,
      activity_type: 'transfer',
      round: 3,
      transfer: {
        sender: {
          ...NO_FEES,
          party: alice.party,
          input_coin_amount: sums.input,
          sender_change_amount: sums.change,
        },
        receivers: [{ party: alice.party, amount, receiver_fee: ZERO }],
        balance_changes: [],
        description: sums.description,
        transferInstructionReceiver: bob.party,
        transferInstructionAmount: amount,
        transferInstructionCid: instructionOf(of),
        transfer_kind: 'create_transfer_instruction',
      },
    })
    const aborted = (by: typeof rejected, of: typeof first, kind: string) => ({
      ...NO_KIND,
      ...by.place,
      activity_type: 'abort_transfer_instruction',
      round: null,
      abort_transfer_instruction: {
        transfer_instruction_cid: instructionOf(of),
        abort_kind: kind,
      },
    })
    expect(rows.slice(0, 6)).toEqual([
      made(first, '10.0000000000', {
        input: '50.0000000000',
        change: '40.0000000000',
        description: 'für "bob" 🎉',
      }),
      {
        ...NO_KIND,
        ...accepted.place,
        activity_type: 'transfer',
        round: 3,
        transfer: {
          ...NO_OFFER,
          sender: {
            ...NO_FEES,
            party: alice.party,
            input_coin_amount: '10.0000000000',
            sender_change_amount: ZERO,
          },
          receivers: [{ party: bob.party, amount: '10.0000000000', receiver_fee: ZERO }],
          balance_changes: [
            [alice.party, '-10.0000000000'],
            [bob.party, '10.0000000000'],
          ].map(([party, change]) => ({
            party,
            change_to_initial_amount_as_of_round_zero: change,
            change_to_holding_fees_rate: ZERO,
          })),
          transferInstructionCid: instructionOf(first),
          transfer_kind: 'transfer_instruction_accept',
        },
      },
      made(second, '40.0000000000', { input: '40.0000000000', change: ZERO, description: null }),
      aborted(rejected, second, 'reject'),
      made(third, '5.0000000000', {
        input: '40.0000000000',
        change: '35.0000000000',
        description: null,
      }),
      aborted(withdrawn, third, 'withdraw'),
    ])
    // Bob's tap; his coin locked; the operator paid, which burns it.
    const [tapOfBob, lock, collected] = rows.slice(6) as [Row, Row, Row]
    expect(tapOfBob).toMatchObject({
      activity_type: 'devnet_tap',
      tap: { coin_owner: bob.party, coin_amount: '1000.0000000000' },
    })
    expect(lock['transfer']).toEqual({
      ...NO_OFFER,
      sender: {
        ...NO_FEES,
        party: bob.party,
        input_coin_amount: '1010.0000000000',
        sender_change_amount: '810.0000000000',
      },
      receivers: [{ party: bob.party, amount: '200.0000000000', receiver_fee: ZERO }],
      balance_changes: [],
    })
    expect(collected['transfer']).toEqual({
      ...NO_OFFER,
      sender: {
        ...NO_FEES,
        party: bob.party,
        input_coin_amount: '200.0000000000',
        sender_change_amount: ZERO,
      },
      receivers: [{ party: network.genesis.dso, amount: '200.0000000000', receiver_fee: ZERO }],
      balance_changes: [
        {
          party: bob.party,
          change_to_initial_amount_as_of_round_zero: '-200.0000000000',
          change_to_holding_fees_rate: ZERO,
        },
      ],
    })
  })

  it('every node returns the same bytes at one offset', async ({ post, nodes }) => {
    const newest = await post({ page_size: 1000 })
    const at = newest.headers.get('x-ledger-offset') ?? ''
    for (const body of [
      { page_size: 1000 },
      { page_size: 3, sort_order: 'desc' },
      { page_size: 2, begin_after_id: '0000000000000001:0000', sort_order: 'asc' },
    ]) {
      const answers = await Promise.all(
        nodes.map((_, node) =>
          until(`the page at ${at}`, async () => {
            const answer = await post(body, { node, headers: { 'x-read-at-offset': at } })
            return answer.status === 503 ? undefined : answer
          }),
        ),
      )
      for (const { status, text, headers } of answers) {
        expect([status, text]).toEqual([200, answers[0]?.text])
        expect(headers.get('x-ledger-offset')).toBe(at)
        for (const name of ['x-ledger-record-time', 'x-ledger-history-hash'])
          expect(headers.get(name)).toBe(answers[0]?.headers.get(name))
        expect(headers.get('cache-control')).toBe('no-store')
        expect(Number(headers.get('x-ledger-head'))).toBeGreaterThanOrEqual(Number(at))
      }
    }
  })

  it('page walks in both directions miss and repeat no row while rows arrive', async ({
    network,
    rowsBehind,
    list,
  }) => {
    const wallet = await network.createWallet('carol')
    await tap(wallet, 1n)
    const [newest] = await rowsBehind('', (rows) =>
      JSON.stringify(rows.at(-1)).includes('carol'),
    ).then((rows) => rows.slice(-1))
    const begun = (newest as Row).event_id
    const seen = { asc: [] as string[], desc: [] as string[] }
    const cursor = { asc: '', desc: '' }
    let taps = 0
    for (let isDone = false; !isDone; ) {
      isDone = true
      for (const order of ['asc', 'desc'] as const) {
        const page_size = 1 + ((seen.asc.length * 5 + seen.desc.length) % 3)
        const begin_after_id = cursor[order]
        const rows = await list({ page_size, begin_after_id, sort_order: order })
        expect(rows.length).toBeLessThanOrEqual(page_size)
        seen[order].push(...rows.map((row) => row.event_id))
        cursor[order] = rows.at(-1)?.event_id ?? begin_after_id
        if (rows.length > 0) isDone = false
      }
      if (taps < 5) {
        taps++
        await tap(wallet, 2n)
        isDone = false
      }
    }
    const all = (await list({ page_size: 1000 })).map((row) => row.event_id)
    expect(all).toEqual([...all].sort())
    expect(seen.asc).toEqual(all.slice(0, seen.asc.length))
    expect(seen.asc.length).toBeGreaterThan(all.indexOf(begun) + 1)
    const older = all.slice(0, all.indexOf(begun) + 1).reverse()
    expect(seen.desc).toEqual(older)
  })

  it('refuses malformed requests, and offsets that it cannot read', async ({ post, list }) => {
    const refused: [unknown, string][] = [
      [{}, 'body.page_size'],
      [{ page_size: 0 }, 'body.page_size'],
      [{ page_size: 1001 }, 'body.page_size'],
      [{ page_size: '5' }, 'body.page_size'],
      [{ page_size: 1.5 }, 'body.page_size'],
      [{ page_size: 1, sort_order: 'up' }, 'body.sort_order'],
      ...[
        'x',
        '0000000000000001:000',
        '00000000000000001:0000',
        '0000000000000001:0000\n',
        '000000000000000x:0000',
      ].map((id): [unknown, string] => [
        { page_size: 1, begin_after_id: id },
        'body.begin_after_id',
      ]),
    ]
    for (const [body, path] of refused) {
      const { status, body: error } = await post(body)
      const { code, details } = error
      expect([status, code, details.path], JSON.stringify(body)).toEqual([
        400,
        'INVALID_ARGUMENT',
        path,
      ])
    }
    const unknown = '9999999999999999:9999'
    expect(await list({ page_size: 1, begin_after_id: unknown })).toEqual([])
    expect(await list({ page_size: 1, begin_after_id: null, sort_order: null })).toHaveLength(1)

    const codeAt = async (offset: string) => {
      const answer = await post({ page_size: 1 }, { headers: { 'x-read-at-offset': offset } })
      return [answer.status, answer.body.code]
    }
    expect(await codeAt('0')).toEqual([410, 'OFFSET_PRUNED'])
    expect(await codeAt('900000000')).toEqual([503, 'OFFSET_NOT_REACHED'])
  })
})
