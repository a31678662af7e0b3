/** @module-tag rest */
import { parseTime } from '@quorumscan/model'
import type { HttpClient } from '@quorumscan/testkit'
import { formatInstant, memberOf } from '@quorumscan/verifier'
import { describe, expect } from 'vitest'
import type { TestUser } from '../testing/test-validator.ts'
import { itWithPeople } from '../testing/world-fixtures.ts'

const SECOND = 1_000_000
const it = itWithPeople
  .extend('ofAlice', { scope: 'file' }, ({ alice }) => alice.client)
  .extend('ofBob', { scope: 'file' }, ({ bob }) => bob.client)
  .extend(
    'tap',
    ({ contracts }) =>
      (person: TestUser, more: object = {}, amount = '1') =>
        contracts.tapRequest(person.party, {
          commands: [contracts.tapCommand(person.party, amount)],
          ...more,
        }),
  )
  .extend(
    'ledgerEnd',
    ({ ofAlice }) =>
      async (): Promise<number> =>
        (await ofAlice.get('/v2/state/ledger-end')).body.offset,
  )
  .extend('outcome', ({ ofAlice }) => async (request: object) => {
    const { status, body } = await ofAlice.post('/v2/commands/submit-and-wait', request)
    return status === 200 ? 'accepted' : `${status} ${body.code}`
  })

type Element = {
  completionResponse: { Completion?: { value: Record<string, never> }; OffsetCheckpoint?: unknown }
}

const completions = async (client: HttpClient, body: object, query = '') => {
  const answer = await client.post(`/v2/commands/completions${query}`, body)
  return {
    ...answer,
    found: (answer.status === 200 ? (answer.body as Element[]) : []).flatMap(
      ({ completionResponse: { Completion } }) =>
        Completion === undefined ? [] : [Completion.value],
    ),
  }
}

describe('completions', () => {
  it('report the outcome of each submission, and are resumed after any of them', async ({
    ledgerEnd,
    tap,
    alice,
    ofAlice,
    world,
  }) => {
    const beginExclusive = await ledgerEnd()
    const first = tap(alice, { submissionId: 's-1', workflowId: 'w' })
    expect(await ofAlice.post('/v2/commands/submit-and-wait', first)).toAnswer(200)
    expect(
      (await ofAlice.post('/v2/commands/async/submit', { ...first, submissionId: 's-2' })).status,
    ).toBe(200)
    await world.until('both to be reported', async () =>
      (await completions(ofAlice, { parties: [alice.party], beginExclusive })).found.length === 2
        ? true
        : undefined,
    )
    const { body, found } = await completions(ofAlice, { parties: [alice.party], beginExclusive })
    expect(body[0]).toEqual({
      completionResponse: {
        Completion: {
          value: {
            commandId: first.commandId,
            status: { code: 0, message: '', details: [] },
            updateId: expect.stringMatching(/^1220/),
            userId: 'alice',
            actAs: [alice.party],
            submissionId: 's-1',
            deduplicationPeriod: {
              // The longest period is longer than this ledger exists.
              DeduplicationOffset: { value: 0 },
            },
            traceContext: null,
            offset: expect.any(Number),
            synchronizerTime: {
              synchronizerId: world.network.genesis.synchronizerId,
              recordTime: expect.stringMatching(/Z$/),
            },
            paidTrafficCost: null,
          },
        },
      },
    })
    const offset = Number(found[0]?.['offset'])
    expect(found[1]).toMatchObject({
      submissionId: 's-2',
      updateId: '',
      deduplicationPeriod: { DeduplicationOffset: { value: offset - 1 } },
      status: {
        code: 6,
        message: expect.stringMatching(/^DUPLICATE_COMMAND\(10,s-2\): /),
        details: expect.arrayContaining([
          {
            typeUrl: 'type.googleapis.com/google.rpc.ErrorInfo',
            value: expect.stringMatching(/^ChFEVVBMSUNBVEVfQ09NTUFORB/),
            valueDecoded: expect.objectContaining({
              reason: 'DUPLICATE_COMMAND',
              metadata: expect.objectContaining({
                completion_offset: String(offset),
                existingSubmissionId: 's-1',
                definite_answer: 'true',
              }),
            }),
            unknownFields: { fields: {} },
          },
        ]),
      },
    })
    const rest = await completions(ofAlice, { parties: [alice.party], beginExclusive: offset })
    expect(rest.found).toEqual([found[1]])
    const one = await completions(ofAlice, { parties: [alice.party], beginExclusive }, '?limit=1')
    expect(one.found).toEqual([found[0]])
  })

  it('report that another submission consumed the contract first', async ({
    alice,
    tap,
    contracts,
    ledgerEnd,
    ofAlice,
    world,
  }) => {
    const { coins } = (await alice.client.get('/v0/wallet/coins')).body as never as {
      coins: readonly { contract: { contract: { contract_id: string } } }[]
    }
    const input = String(coins[0]?.contract.contract.contract_id)
    // Both are valid when submitted; at their ledger time only one can consume the coin.
    const spend = () => ({
      ...tap(alice, { minLedgerTimeRel: { seconds: 30 } }),
      commands: [
        {
          ExerciseCommand: {
            templateId: '#quorumscan-coin:Coin.Rules:CoinRules',
            contractId: contracts.rules['CoinRules'],
            choice: 'CoinRules_Transfer',
            choiceArgument: { sender: alice.party, inputs: [input], outputs: [] },
          },
        },
      ],
    })
    const beginExclusive = await ledgerEnd()
    for (const request of [spend(), spend()])
      expect(await ofAlice.post('/v2/commands/async/submit', request)).toAnswer(200)
    await world.network.advance(31_000_000)
    const both = await world.until('both to be reported', async () => {
      const { found } = await completions(ofAlice, { parties: [alice.party], beginExclusive })
      return found.length === 2 ? found : undefined
    })
    expect(both.map(({ status }) => (status as unknown as { code: number }).code)).toEqual([0, 5])
    expect(both[1]).toMatchObject({
      updateId: '',
      status: {
        message: expect.stringMatching(/^LOCAL_VERDICT_INACTIVE_CONTRACTS\(11,/),
        details: expect.arrayContaining([
          expect.objectContaining({
            typeUrl: 'type.googleapis.com/google.rpc.ResourceInfo',
            valueDecoded: expect.objectContaining({ resourceName: input }),
          }),
        ]),
      },
    })
  })

  it('that exist are in the list, however short its idle timeout is', async ({
    ledgerEnd,
    tap,
    alice,
    ofAlice,
  }) => {
    const beginExclusive = await ledgerEnd()
    const update = { endInclusive: null, updateFormat: {} as object }
    const eventFormat = { filtersByParty: { [alice.party]: {} } }
    const transactionShape = 'TRANSACTION_SHAPE_ACS_DELTA'
    update.updateFormat = { includeTransactions: { eventFormat, transactionShape } }
    expect(await ofAlice.post('/v2/commands/submit-and-wait', tap(alice))).toAnswer(200)
    for (const idle of ['-1', '0', '1'])
      for (const limit of ['', '&limit=1', '&limit=500']) {
        const query = `?stream_idle_timeout_ms=${idle}${limit}`
        const request = { parties: [alice.party], beginExclusive }
        expect((await completions(ofAlice, request, query)).found, query).toHaveLength(1)
        for (const path of ['/v2/updates', '/v2/updates/flats']) {
          const { body } = await ofAlice.post(`${path}${query}`, { beginExclusive, ...update })
          expect(body, `${path}${query}`).toEqual([
            { update: { Transaction: { value: expect.any(Object) } } },
          ])
        }
      }
  })

  it('of a submission with a least ledger time never come before it', async ({
    alice,
    tap,
    ledgerEnd,
    ofAlice,
    world,
  }) => {
    const beginExclusive = await ledgerEnd()
    const asked = world.network.clock.nowMicros() + 3 * SECOND
    const minLedgerTimeAbs = formatInstant(asked)
    const request = tap(alice, { minLedgerTimeAbs })
    expect(await ofAlice.post('/v2/commands/submit-and-wait', request)).toAnswer(200)
    const { found } = await completions(ofAlice, { parties: [alice.party], beginExclusive })
    const times = found.map(({ synchronizerTime }) =>
      parseTime(String(memberOf(synchronizerTime, 'recordTime'))),
    )
    expect(times).toEqual([expect.any(Number)])
    expect(times[0]).toBeGreaterThanOrEqual(asked)
  })

  it('are those of the user and the requested parties', async ({
    ledgerEnd,
    ofBob,
    tap,
    bob,
    ofAlice,
    alice,
  }) => {
    const beginExclusive = await ledgerEnd()
    await ofBob.post('/v2/commands/submit-and-wait', tap(bob))
    await ofAlice.post('/v2/commands/submit-and-wait', tap(alice))
    const { found } = await completions(ofAlice, { parties: [alice.party], beginExclusive })
    expect(found.map((value) => value['userId'])).toEqual(['alice'])
  })

  it('end with a checkpoint at or after beginExclusive', async ({ ledgerEnd, ofAlice, alice }) => {
    const beginExclusive = await ledgerEnd()
    const { body } = await completions(
      ofAlice,
      { parties: [alice.party], beginExclusive },
      '?stream_idle_timeout_ms=1500',
    )
    const { offset, synchronizerTimes } = body.at(-1).completionResponse.OffsetCheckpoint.value
    expect(offset).toBeGreaterThanOrEqual(beginExclusive)
    expect(synchronizerTimes).toHaveLength(1)
  })

  it.for([
    [{ userId: 'bob', parties: [] }, '403 NA'],
    [{ parties: ['unknown'] }, '403 NA'],
    [{ parties: [] }, '400 MISSING_FIELD'],
    [{ parties: 'mine', beginExclusive: -1 }, '400 NEGATIVE_OFFSET'],
    [{ parties: 'mine', beginExclusive: 9_000_000_000_000 }, '400 OFFSET_AFTER_LEDGER_END'],
  ] as const)('a request with %j is refused', async ([body, want], { alice, ofAlice }) => {
    const parties = body.parties === 'mine' ? [alice.party] : body.parties
    const { status, body: answer } = await completions(ofAlice, { ...body, parties })
    expect(`${status} ${answer.code}`).toBe(want)
  })
})

describe('submitting and waiting for the transaction', () => {
  const submit = async (client: HttpClient, commands: object, transactionFormat?: object) =>
    client.post('/v2/commands/submit-and-wait-for-transaction', { commands, transactionFormat })

  it('shows the part of it that the submitters see', async ({ tap, alice, ofAlice }) => {
    const request = tap(alice, { workflowId: 'w-1' })
    const { body } = await submit(ofAlice, request)
    expect(body.transaction).toMatchObject({
      commandId: request.commandId,
      workflowId: 'w-1',
      events: [{ CreatedEvent: { witnessParties: [alice.party] } }],
    })
  })

  it('shows it in any format, also an empty one', async ({ alice, ofAlice, tap, bob }) => {
    const format = (templateId: string, transactionShape: string) => ({
      transactionShape,
      eventFormat: {
        filtersByParty: {
          [alice.party]: {
            cumulative: [{ identifierFilter: { TemplateFilter: { value: { templateId } } } }],
          },
        },
      },
    })
    const effects = format(
      '#quorumscan-coin:Coin.Rules:CoinRules',
      'TRANSACTION_SHAPE_LEDGER_EFFECTS',
    )
    expect((await submit(ofAlice, tap(alice), effects)).body.transaction.events).toMatchObject([
      { ExercisedEvent: { choice: 'CoinRules_DevNet_Tap' } },
    ])
    const others = format('#quorumscan-name-service:Ans:AnsEntry', 'TRANSACTION_SHAPE_ACS_DELTA')
    expect((await submit(ofAlice, tap(alice), others)).body.transaction.events).toEqual([])
    const ofOthers = { ...others, eventFormat: { filtersByParty: { [bob.party]: {} } } }
    expect(await submit(ofAlice, tap(alice), ofOthers)).toAnswer(403)
  })
})

describe('deduplication', () => {
  const lasting = (seconds: number) => ({
    deduplicationPeriod: { DeduplicationDuration: { value: { seconds } } },
  })

  it('looks back for the requested duration, by record time', async ({
    tap,
    alice,
    outcome,
    world,
  }) => {
    const request = tap(alice, lasting(20))
    expect(await outcome(request)).toBe('accepted')
    expect(await outcome(request)).toBe('409 DUPLICATE_COMMAND')
    await world.network.advance(10 * SECOND)
    expect(await outcome(request)).toBe('409 DUPLICATE_COMMAND')
    await world.network.advance(11 * SECOND)
    expect(await outcome(request)).toBe('accepted')
  })

  it('looks back to an offset', async ({ tap, alice, ofAlice, outcome }) => {
    const request = tap(alice)
    const { body } = await ofAlice.post('/v2/commands/submit-and-wait', request)
    const since = (offset: number) => ({
      ...request,
      deduplicationPeriod: { DeduplicationOffset: { value: offset } },
    })
    expect(await outcome(since(0))).toBe('409 DUPLICATE_COMMAND')
    expect(await outcome(since(body.completionOffset - 1))).toBe('409 DUPLICATE_COMMAND')
    expect(await outcome(since(body.completionOffset))).toBe('accepted')
  })

  it('refuses a longer period than the genesis allows', async ({ tap, alice, ofAlice }) => {
    const request = tap(alice, lasting(86_401))
    expect(await ofAlice.post('/v2/commands/async/submit', request)).toAnswer(200)
    const waited = await ofAlice.post('/v2/commands/submit-and-wait', {
      ...request,
      commandId: 'x',
    })
    expect(waited).toMatchObject({
      status: 400,
      body: { code: 'INVALID_DEDUPLICATION_PERIOD', context: { longest_duration: '86400s' } },
    })
  })

  it('depends only on user, set of actAs and command id, also after a restart', async ({
    tap,
    alice,
    outcome,
    world,
    ofBob,
    bob,
  }) => {
    const request = tap(alice)
    expect(await outcome(request)).toBe('accepted')
    await world.restart()
    const other = { ...tap(alice, { workflowId: 'w' }, '2'), commandId: request.commandId }
    expect(await outcome({ ...other, actAs: [alice.party, alice.party] })).toBe(
      '409 DUPLICATE_COMMAND',
    )
    expect(
      (
        await ofBob.post('/v2/commands/submit-and-wait', {
          ...tap(bob),
          commandId: request.commandId,
        })
      ).status,
    ).toBe(200)
  })

  it('does not count refused submissions', async ({ tap, alice, outcome }) => {
    const request = tap(alice, {}, '0')
    expect(await outcome(request)).toBe('400 DAML_FAILURE')
    expect(await outcome({ ...tap(alice), commandId: request.commandId })).toBe('accepted')
  })
})
