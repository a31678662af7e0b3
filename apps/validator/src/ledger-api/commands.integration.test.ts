import { packages, svPartyOf } from '@quorumscan/ledger'
import type { HttpAnswer } from '@quorumscan/testkit'
import type { FixturesOf } from '@quorumscan/testkit/fixtures'
import { formatInstant } from '@quorumscan/verifier'
import { describe, expect } from 'vitest'
import type { TestUser } from '../testing/test-validator.ts'
import { itWithPeople } from '../testing/world-fixtures.ts'

const SUBMIT = '/v2/commands/async/submit'
const WAIT = '/v2/commands/submit-and-wait'
const COIN_RULES = '#quorumscan-coin:Coin.Rules:CoinRules'
const HOLDING = '#quorumscan-coin:Coin.Holding:Holding'
const COIN = '#quorumscan-coin:Coin:Coin'

const it = itWithPeople
  .extend('tap', ({ contracts }) => contracts.tapCommand)
  .extend(
    'request',
    ({ contracts, alice }) =>
      (more: object = {}): Record<string, unknown> =>
        contracts.tapRequest(alice.party, more),
  )
  .extend('exercise', ({ tap, alice }) => (more: object) => ({
    commands: [{ ExerciseCommand: { ...tap(alice.party).ExerciseCommand, ...more } }],
  }))
  .extend(
    'submitted',
    ({ client, request }) =>
      async (more: object) =>
        outcome(await client.post(SUBMIT, request(more))),
  )
type Given = Pick<FixturesOf<typeof it>, 'exercise' | 'alice' | 'bob' | 'world'>

/** `code status`, or the text where nothing was decoded. */
function outcome({ status, type, body }: HttpAnswer): string {
  if (type === 'text/plain') return `${status} ${body}`
  return status === 200 ? 'accepted' : `${status} ${body.code}`
}

async function coinOf(person: TestUser): Promise<string> {
  return (await blobOf(person)).contractId
}

/** A coin of the person as a disclosed contract. */
async function blobOf(person: TestUser, index = 0) {
  const { coins } = (await person.client.get('/v0/wallet/coins')).body as never as {
    coins: readonly { contract: { contract: Record<string, string> } }[]
  }
  const { contract_id = '', created_event_blob = '' } = coins[index]?.contract.contract ?? {}
  return { contractId: contract_id, createdEventBlob: created_event_blob }
}

describe('a command', () => {
  it('is acknowledged with an empty object, without a content type and with one', async ({
    request,
    client,
  }) => {
    for (const body of [JSON.stringify(request()), request()])
      expect(await client.post(SUBMIT, body)).toMatchObject({
        status: 200,
        type: 'application/json',
        text: '{}',
      })
  })

  it('is awaited by submit-and-wait', async ({ client, request }) => {
    const before = (await client.get('/v2/state/ledger-end')).body.offset
    const { body } = await client.post(WAIT, request())
    expect(body).toEqual({
      updateId: expect.stringMatching(/^1220[0-9a-f]{64}$/),
      completionOffset: expect.any(Number),
    })
    expect(body.completionOffset).toBeGreaterThan(before)
  })

  it('may name its package by id', async ({ submitted, exercise }) => {
    const id = packages.find(({ name }) => name === 'quorumscan-coin')?.id
    expect(await submitted(exercise({ templateId: `${id}:Coin.Rules:CoinRules` }))).toBe('accepted')
  })

  it('may have unknown members, and null or empty ones, which count as absent', async ({
    submitted,
  }) => {
    const empty = { userId: '', workflowId: '', submissionId: '', synchronizerId: '' }
    const nothing = { deduplicationPeriod: null, minLedgerTimeAbs: null, tapsMaxPasses: null }
    expect(await submitted({ ...empty, ...nothing, packagePreference: 7 })).toBe('accepted')
    expect(await submitted({ deduplicationPeriod: { Empty: {} }, readAs: [] })).toBe('accepted')
  })
})

describe('a command that does not decode is answered with one line of text', () => {
  it.for([
    ['{', /JSON/],
    ['[]', /^400 body: /],
    ['', /^400 body: /],
    [{ commands: [] }, /^400 body\.commandId: /],
    [{ commands: [], commandId: 'c' }, /^400 body\.actAs: /],
    [{ commandId: 'c', actAs: [] }, /^400 body\.commands: /],
    [{ commands: {}, commandId: 'c', actAs: [] }, /^400 body\.commands: /],
    [{ commands: null, commandId: 'c', actAs: [] }, /^400 body\.commands: /],
    [{ commands: [], commandId: 7, actAs: [] }, /^400 body\.commandId: /],
    [{ commands: [], commandId: 'c', actAs: [7] }, /^400 body\.actAs\[0\]: /],
    [{ commands: [], commandId: 'c', actAs: [], tapsMaxPasses: 'x' }, /^400 body\.tapsMaxPasses: /],
    [{ commands: [], commandId: 'c', actAs: [], minLedgerTimeAbs: 'soon' }, /minLedgerTimeAbs/],
    [{ commands: [], commandId: 'c', actAs: [], deduplicationPeriod: {} }, /deduplicationPeriod/],
    [
      { commands: [], commandId: 'c', actAs: [], disclosedContracts: [{ createdEventBlob: '?' }] },
      /disclosedContracts\[0\]\.createdEventBlob/,
    ],
  ] as const)('%j', async ([body, want], { client }) => {
    const answer = await client.post(SUBMIT, body)
    expect(answer.type).toBe('text/plain')
    expect(outcome(answer)).toMatch(want)
  })

  it.for([
    ['an unknown variant', { DeleteCommand: {} }],
    ['no variant', {}],
    ['two variants', { CreateCommand: {}, ExerciseCommand: {} }],
    ['a missing member', { CreateCommand: { templateId: COIN } }],
    [
      'an identifier of two parts',
      { CreateCommand: { templateId: 'Coin:Coin', createArguments: {} } },
    ],
    ['an identifier of four', { CreateCommand: { templateId: '#a:b:c:d', createArguments: {} } }],
  ] as const)('a command with %s', async ([_what, command], { submitted }) => {
    expect(await submitted({ commands: [command] })).toMatch(/^400 body\.commands\[0\]/)
  })
})

describe('synchronous refusals', () => {
  const create = (templateId: string, createArguments: unknown) => ({
    commands: [{ CreateCommand: { templateId, createArguments } }],
  })
  const unknownId = `00${'ab'.repeat(32)}`

  // In the order of the reference's table (4.5): a request that breaks two rules reports the first.
  const rows: readonly (readonly [string, (given: Given) => object, string])[] = [
    ['actAs empty', () => ({ actAs: [] }), '400 MISSING_FIELD'],
    ['actAs no party', () => ({ actAs: ['a/b'] }), '400 INVALID_ARGUMENT'],
    [
      'preference malformed',
      () => ({ packageIdSelectionPreference: ['a/b'] }),
      '400 INVALID_ARGUMENT',
    ],
    [
      'package part malformed',
      ({ exercise }: Given) => exercise({ templateId: '$:Coin.Rules:CoinRules' }),
      '400 INVALID_ARGUMENT',
    ],
    [
      'package name unknown',
      ({ exercise }: Given) => exercise({ templateId: '#gold:Coin.Rules:CoinRules' }),
      '400 JSON_API_PACKAGE_SELECTION_FAILED',
    ],
    [
      'template unknown',
      ({ exercise }: Given) => exercise({ templateId: '#quorumscan-coin:Coin.Rules:Gold' }),
      '404 TEMPLATES_OR_INTERFACES_NOT_FOUND',
    ],
    [
      'package id unknown',
      ({ exercise }: Given) => exercise({ templateId: 'abc:Coin.Rules:CoinRules' }),
      '404 TEMPLATES_OR_INTERFACES_NOT_FOUND',
    ],
    [
      'choice unknown',
      ({ exercise }: Given) => exercise({ choice: 'CoinRules_Steal' }),
      '400 INVALID_ARGUMENT',
    ],
    [
      'argument misfits',
      ({ exercise }: Given) => exercise({ choiceArgument: { receiver: 7, amount: '1' } }),
      '400 INVALID_ARGUMENT',
    ],
    [
      'argument incomplete',
      ({ exercise }: Given) => exercise({ choiceArgument: {} }),
      '400 COMMAND_PREPROCESSING_FAILED',
    ],
    [
      'argument too large',
      ({ exercise, alice }: Given) =>
        exercise({ choiceArgument: { receiver: alice.party, amount: '1'.repeat(29) } }),
      '400 COMMAND_PREPROCESSING_FAILED',
    ],
    [
      'by key',
      () => ({
        commands: [
          {
            ExerciseByKeyCommand: {
              templateId: COIN,
              contractKey: {},
              choice: 'x',
              choiceArgument: {},
            },
          },
        ],
      }),
      '400 INVALID_ARGUMENT',
    ],
    ['another user', () => ({ userId: 'bob' }), '403 NA'],
    ['no right to act', ({ alice, bob }: Given) => ({ actAs: [alice.party, bob.party] }), '403 NA'],
    ['no right to read', ({ bob }: Given) => ({ readAs: [bob.party] }), '403 NA'],
    ['workflowId', () => ({ workflowId: 'ä' }), '400 INVALID_ARGUMENT'],
    ['commandId empty', () => ({ commandId: '' }), '400 MISSING_FIELD'],
    ['commandId malformed', () => ({ commandId: 'x'.repeat(256) }), '400 INVALID_FIELD'],
    ['submissionId', () => ({ submissionId: 'ä' }), '400 INVALID_FIELD'],
    ['synchronizerId', () => ({ synchronizerId: 'here' }), '400 INVALID_FIELD'],
    ['commands empty', () => ({ commands: [] }), '400 MISSING_FIELD'],
    [
      'contractId empty',
      ({ exercise }: Given) => exercise({ contractId: '' }),
      '400 MISSING_FIELD',
    ],
    [
      'contractId malformed',
      ({ exercise }: Given) => exercise({ contractId: 'xyz' }),
      '400 INVALID_FIELD',
    ],
    [
      'two ledger times',
      () => ({ minLedgerTimeAbs: '2026-01-01T00:00:00Z', minLedgerTimeRel: {} }),
      '400 INVALID_ARGUMENT',
    ],
    [
      'ledger time far ahead',
      () => ({ minLedgerTimeRel: { seconds: 61 } }),
      '400 INVALID_ARGUMENT',
    ],
    [
      'relative ledger time negative',
      () => ({ minLedgerTimeRel: { seconds: -1 } }),
      '400 INVALID_ARGUMENT',
    ],
    [
      'relative ledger time of mixed signs',
      () => ({ minLedgerTimeRel: { seconds: 1, nanos: -5 } }),
      '400 INVALID_ARGUMENT',
    ],
    [
      'absolute ledger time far ahead',
      ({ world }: Given) => ({
        minLedgerTimeAbs: formatInstant(world.network.clock.nowMicros() + 62_000_000),
      }),
      '400 INVALID_ARGUMENT',
    ],
    [
      'period negative',
      () => ({ deduplicationPeriod: { DeduplicationDuration: { value: { seconds: -1 } } } }),
      '400 INVALID_FIELD',
    ],
    [
      'period of mixed signs',
      () => ({
        deduplicationPeriod: { DeduplicationDuration: { value: { seconds: 1, nanos: -5 } } },
      }),
      '400 INVALID_FIELD',
    ],
    [
      'offset negative',
      () => ({ deduplicationPeriod: { DeduplicationOffset: { value: -1 } } }),
      '400 NEGATIVE_OFFSET',
    ],
    [
      'disclosed without blob',
      () => ({ disclosedContracts: [{ contractId: unknownId }] }),
      '400 MISSING_FIELD',
    ],
    [
      'disclosed blob',
      () => ({ disclosedContracts: [{ createdEventBlob: 'AAAA' }] }),
      '400 INVALID_ARGUMENT',
    ],
    [
      'preference unknown',
      () => ({ packageIdSelectionPreference: ['abc'] }),
      '400 INVALID_ARGUMENT',
    ],
    [
      'prefetch limit',
      () => ({ prefetchContractKeys: [{ templateId: COIN, contractKey: {}, limit: 0 }] }),
      '400 INVALID_ARGUMENT',
    ],
    ['tapsMaxPasses 0', () => ({ tapsMaxPasses: 0 }), '400 INVALID_ARGUMENT'],
    ['tapsMaxPasses 5', () => ({ tapsMaxPasses: 5 }), '400 INVALID_ARGUMENT'],
    [
      'contract unknown',
      ({ exercise }: Given) => exercise({ contractId: unknownId }),
      '404 CONTRACT_NOT_FOUND',
    ],
    [
      'another synchronizer',
      () => ({ synchronizerId: `other::1220${'0'.repeat(64)}` }),
      '400 INVALID_PRESCRIBED_SYNCHRONIZER_ID',
    ],
  ]

  it.for(rows)(
    '%s',
    async ([_what, more, want], { client, request, exercise, alice, bob, world }) => {
      const answer = await client.post(
        SUBMIT,
        request({ submissionId: 's-1', ...more({ exercise, alice, bob, world }) }),
      )
      expect(outcome(answer), JSON.stringify(answer.body)).toBe(want)
      expect(Object.keys(answer.body)).toEqual([
        'code',
        'cause',
        'correlationId',
        'traceId',
        'context',
        'resources',
        'errorCategory',
        'grpcCodeValue',
        'retryInfo',
        'definiteAnswer',
      ])
    },
  )

  it('report the first broken rule of the table', async ({
    submitted,
    exercise,
    alice,
    bob,
    world,
  }) => {
    const given = { exercise, alice, bob, world }
    // Rows whose members do not overlap can be broken at once.
    const inOrder = [
      'actAs empty',
      'preference malformed',
      'argument misfits',
      'another user',
      'workflowId',
      'commandId empty',
      'submissionId',
      'synchronizerId',
      'two ledger times',
      'offset negative',
      'disclosed without blob',
      'preference unknown',
      'prefetch limit',
      'tapsMaxPasses 0',
    ]
    const found = inOrder.map((name) => rows.find(([what]) => what === name) ?? rows[0])
    for (let index = 0; index + 1 < found.length; index++) {
      const later = found.slice(index).toReversed()
      const broken = Object.assign({}, ...later.map((row) => row?.[1](given)))
      expect(await submitted(broken), inOrder[index]).toBe(found[index]?.[2])
    }
  })

  it('name the resources that they are about', async ({ client, request, exercise }) => {
    const missing = await client.post(SUBMIT, request({ commandId: '', submissionId: 's-1' }))
    expect(missing.body).toMatchObject({
      context: { field_name: 'command_id', category: '8', definite_answer: 'false' },
      errorCategory: 8,
      grpcCodeValue: 3,
    })
    const gone = await client.post(
      SUBMIT,
      request({ submissionId: 's-1', ...exercise({ contractId: unknownId }) }),
    )
    expect(gone.body).toMatchObject({
      correlationId: 's-1',
      resources: [['CONTRACT_ID', unknownId]],
      errorCategory: 11,
      grpcCodeValue: 5,
    })
  })

  it('of interpretation have the codes of the reference', async ({
    client,
    request,
    alice,
    submitted,
    contracts,
    tap,
    bob,
  }) => {
    const mine = await client.post(WAIT, request())
    expect(mine).toAnswer(200)
    const coin = await coinOf(alice)
    const archive = (templateId: string, contractId: string) => ({
      ExerciseCommand: { templateId, contractId, choice: 'Archive', choiceArgument: null },
    })
    // A coin belongs to its owner and the operator, whose authority no caller has (D-29).
    expect(await submitted({ commands: [archive(COIN, coin)] })).toBe(
      '400 DAML_AUTHORIZATION_ERROR',
    )
    expect(await submitted({ commands: [archive(HOLDING, coin)] })).toBe(
      '400 DAML_AUTHORIZATION_ERROR',
    )
    expect(
      await submitted({ commands: [archive(HOLDING, contracts.rules['CoinRules'] ?? '')] }),
    ).toBe('400 WRONGLY_TYPED_CONTRACT')
    expect(await submitted({ commands: [archive(HOLDING, unknownId)] })).toBe(
      '404 CONTRACT_NOT_FOUND',
    )
    expect(await submitted({ commands: [archive(COIN, contracts.rules['CoinRules'] ?? '')] })).toBe(
      '400 WRONGLY_TYPED_CONTRACT',
    )
    expect(
      await submitted({
        commands: [
          {
            ExerciseCommand: {
              templateId: HOLDING,
              contractId: coin,
              choice: 'Transfer',
              choiceArgument: {},
            },
          },
        ],
      }),
    ).toBe('400 INVALID_ARGUMENT')
    expect(await submitted(create(HOLDING, {}))).toBe('400 INVALID_ARGUMENT')
    expect(await submitted({ commands: [tap(alice.party, '0')] })).toBe('400 DAML_FAILURE')
    expect(await submitted({ commands: [tap(bob.party)] })).toBe('400 DAML_AUTHORIZATION_ERROR')
    const twice = {
      ExerciseCommand: {
        templateId: COIN_RULES,
        contractId: contracts.rules['CoinRules'],
        choice: 'CoinRules_Transfer',
        choiceArgument: { sender: alice.party, inputs: [coin, coin], outputs: [] },
      },
    }
    expect(await submitted({ commands: [twice] })).toBe('404 CONTRACT_NOT_ACTIVE')
    expect(await submitted({ commands: [archive(COIN, await coinOf(bob))] })).toBe(
      '404 CONTRACT_NOT_FOUND',
    )
  })

  it('of contracts that the submitters do not see depend on readAs', async ({
    alice,
    bob,
    world,
    request,
  }) => {
    const rights = [
      { kind: { CanActAs: { value: { party: alice.party } } } },
      { kind: { CanReadAs: { value: { party: bob.party } } } },
    ]
    const admin = await world.clientOf('participant_admin')
    await admin.post('/v2/users', { user: { id: 'seeing' }, rights })
    const seeing = await world.clientOf('seeing')
    const contractId = await coinOf(bob)
    const of = (more: object) =>
      request({
        ...more,
        commands: [
          {
            ExerciseCommand: {
              templateId: COIN,
              contractId,
              choice: 'Archive',
              choiceArgument: {},
            },
          },
        ],
      })
    expect(outcome(await seeing.post(SUBMIT, of({})))).toBe('404 CONTRACT_NOT_FOUND')
    // They see the contract, but cannot use it.
    expect(outcome(await seeing.post(SUBMIT, of({ readAs: [bob.party] })))).toBe(
      '400 DAML_AUTHORIZATION_ERROR',
    )
  })

  it('of choices on the rules depend on whether the rules are disclosed', async ({
    client,
    request,
    contracts,
  }) => {
    for (const path of [SUBMIT, WAIT]) {
      const hidden = await client.post(path, request({ disclosedContracts: [] }))
      expect(outcome(hidden)).toBe('404 CONTRACT_NOT_FOUND')
      expect(hidden.body.resources).toEqual([['CONTRACT_ID', contracts.rules['CoinRules']]])
      expect(outcome(await client.post(path, request()))).toBe('accepted')
    }
  })

  it('of disclosed contracts with a wrong template, id or synchronizer', async ({
    alice,
    contracts,
    world,
    submitted,
  }) => {
    const { contractId, createdEventBlob } = await blobOf(alice)
    const disclosed = (...more: object[]) => ({
      disclosedContracts: [
        ...contracts.disclosedContracts,
        ...more.map((one) => ({ createdEventBlob, contractId, ...one })),
      ],
    })
    const here = { synchronizerId: world.network.genesis.synchronizerId }
    const there = { synchronizerId: `other::1220${'0'.repeat(64)}` }
    expect(await submitted(disclosed({ templateId: COIN, ...here }))).toBe('accepted')
    for (const wrong of [{ contractId: unknownId }, { templateId: COIN_RULES }])
      expect(await submitted(disclosed(wrong))).toBe('400 INVALID_ARGUMENT')
    expect(await submitted(disclosed({ synchronizerId: 'x' }))).toBe('400 INVALID_FIELD')
    for (const mixed of [disclosed(here, there), disclosed(there)])
      expect(await submitted(mixed)).toBe('400 DISCLOSED_CONTRACTS_SYNCHRONIZER_ID_MISMATCH')
    expect(await submitted({ ...disclosed(there), ...here })).toBe(
      '400 PRESCRIBED_SYNCHRONIZER_ID_MISMATCH',
    )
  })

  it('of a change that is in progress name its submission', async ({
    request,
    client,
    submitted,
    world,
  }) => {
    const body = request({ submissionId: 's-first', minLedgerTimeRel: { seconds: 30 } })
    expect(outcome(await client.post(SUBMIT, body))).toBe('accepted')
    for (const path of [SUBMIT, WAIT]) {
      const answer = await client.post(path, { ...body, submissionId: 's-again' })
      expect(outcome(answer)).toBe('409 SUBMISSION_ALREADY_IN_FLIGHT')
      expect(answer.body).toMatchObject({
        correlationId: 's-again',
        context: { existing_submission_id: 's-first' },
        retryInfo: '1 second',
      })
    }
    // Another change of the same parties is not the same change.
    expect(await submitted({})).toBe('accepted')
    await world.network.advance(31_000_000)
    const again = { ...body, minLedgerTimeRel: null }
    await world.until('it to have taken effect', async () =>
      (await client.post(WAIT, again)).body.code === 'DUPLICATE_COMMAND' ? true : undefined,
    )
  })

  // Rows of 4.5 that cannot occur here, and the outcome of requests that try to provoke them:
  // - e, userId missing and not derivable: a token always has a `sub` (D-32).
  // - e, userId malformed; actAs or readAs no party: d comes first, as no such user or right exists. Only
  //   who may read as anyone passes d with such a party (`bad-input.integration.test.ts`).
  // - e, choice no Name: c comes first, for no choice has such a name.
  // - e, same contract id, different payloads: an id is the hash of its payload (D-31), so one blob is not its.
  // - e, two package ids for one name: each package has one id here.
  // - g, key lookup fails: no template has keys; by key is refused in c, prefetched keys have no effect (D-29).
  // - g, UNHANDLED_EXCEPTION, INTERPRETATION_USER_ERROR: what a choice refuses is a DAML_FAILURE.
  // - g, too slow: 100 commands and 1000 events bound the work (DAML_FAILURE beyond).
  // - h, UNKNOWN_INFORMEES: every stakeholder signs, or the choice itself refuses the stranger in g.
  // - h, participant not connected: a submission is stored, and waits for the log (4.6 NOT_SEQUENCED_TIMEOUT).
  // - 4.6 LOCAL_VERDICT_LOCKED_CONTRACTS, …_TIMEOUT, MEDIATOR_…, SEQUENCER_…, PACKAGE_NOT_VETTED_…,
  //   UNKNOWN_CONTRACT_SYNCHRONIZER: there is one log, no mediator, and packages never change.
  it('that cannot occur here are replaced by those that can', async ({
    alice,
    exercise,
    tap,
    submitted,
  }) => {
    const coin = await blobOf(alice)
    const other = await blobOf(alice, 1)
    const [{ id = '' } = {}] = packages
    const keys = { templateId: COIN, contractKey: { any: 'thing' } }
    const offer = {
      sender: alice.party,
      receiver: `unknown::1220${'0'.repeat(64)}`,
      amount: '0.1',
      inputs: [coin.contractId],
      executeBefore: formatInstant(1e15 * 4),
      description: '',
      trackingId: '',
    }
    const cases: readonly (readonly [object, string])[] = [
      [{ userId: 'ä' }, '403 NA'],
      [{ actAs: [alice.party, 'a/b'] }, '403 NA'],
      [{ readAs: ['a/b'] }, '403 NA'],
      [exercise({ choice: '1st' }), '400 INVALID_ARGUMENT'],
      [{ minLedgerTimeAbs: '9999-12-31T23:59:59.999999Z' }, '400 INVALID_ARGUMENT'],
      [{ minLedgerTimeAbs: '1066-10-14T09:00:00+01:00' }, 'accepted'],
      [
        { minLedgerTimeAbs: '9999-13-31T23:59:59Z' },
        '400 body.minLedgerTimeAbs: must be an ISO-8601 instant',
      ],
      [{ minLedgerTimeRel: { seconds: '9223372036854775807' } }, '400 INVALID_ARGUMENT'],
      [
        { disclosedContracts: [coin, { ...other, contractId: coin.contractId }] },
        '400 INVALID_ARGUMENT',
      ],
      [{ packageIdSelectionPreference: [id, id] }, 'accepted'],
      [{ prefetchContractKeys: [keys, { ...keys, limit: 1 }] }, 'accepted'],
      [
        {
          commands: Array(51)
            .fill(tap(alice.party, '0.1'))
            .concat(Array(50).fill(tap('x'))),
        },
        '400 INVALID_ARGUMENT',
      ],
      [
        exercise({ choice: 'CoinRules_CreateTransferInstruction', choiceArgument: offer }),
        '400 DAML_FAILURE',
      ],
    ]
    for (const [more, want] of cases) expect(await submitted(more), JSON.stringify(more)).toBe(want)
  })

  it('of parties that another participant hosts name the reason', async ({ world, submitted }) => {
    const foreign = `alice::1220${'0'.repeat(64)}`
    const admin = await world.clientOf('participant_admin')
    const [node] = world.network.genesis.nodes
    const hostedElsewhere = node === undefined ? '' : svPartyOf(node)
    for (const party of [foreign, world.network.genesis.dso, hostedElsewhere]) {
      const right = { kind: { CanActAs: { value: { party } } } }
      const granted = await admin.post('/v2/users/alice/rights', { rights: [right] })
      expect(granted.body).toEqual({ newlyGrantedRights: [right] })
    }
    expect(await submitted({ actAs: [foreign] })).toBe('404 UNKNOWN_SUBMITTERS')
    expect(await submitted({ actAs: [world.network.genesis.dso] })).toBe('404 UNKNOWN_SUBMITTERS')
    expect(await submitted({ actAs: [hostedElsewhere] })).toBe(
      '404 NO_SYNCHRONIZER_ON_WHICH_ALL_SUBMITTERS_CAN_SUBMIT',
    )
  })
})
