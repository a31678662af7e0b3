/** Reading the ledger over HTTP and WebSocket: the rows of the reference's tables, in their order. */

import { once } from 'node:events'
import { connect } from 'node:net'
import type { HttpAnswer } from '@quorumscan/testkit'
import type { FixturesOf } from '@quorumscan/testkit/fixtures'
import { describe, expect } from 'vitest'
import { WebSocket } from 'ws'
import { genesisContracts } from '../testing/genesis-contracts.ts'
import { itWithPeople } from '../testing/world-fixtures.ts'

const UPDATES = '/v2/updates'
const COIN = '#quorumscan-coin:Coin:Coin'
const HOLDING = '#quorumscan-coin:Coin.Holding:Holding'

const ACTIVE = '/v2/state/active-contracts'
const it = itWithPeople
  .extend(
    'own',
    ({ alice }) =>
      () =>
        format({ [alice.party]: {} }),
  )
  .extend(
    'ledgerEnd',
    ({ client }) =>
      async () =>
        Number((await client.get('/v2/state/ledger-end')).body['offset']),
  )
  .extend(
    'party',
    ({ alice }) =>
      () =>
        alice.party,
  )
  .extend('all', ({ ledgerEnd, own, client }) => async () => {
    const body = { beginExclusive: 0, endInclusive: await ledgerEnd(), updateFormat: own() }
    return (await client.post(UPDATES, body)).body as unknown as {
      update: { Transaction: { value: { updateId: string; offset: number } } }
    }[]
  })
  .extend('legacy', ({ ledgerEnd, alice }) => async (more: object = {}) => ({
    beginExclusive: 0,
    endInclusive: await ledgerEnd(),
    filter: { filtersByParty: { [alice.party]: {} } },
    ...more,
  }))
  .extend(
    'at',
    ({ client, alice }) =>
      async (offset: number, limit = '') =>
        await client.post(`${ACTIVE}${limit}`, {
          activeAtOffset: offset,
          filter: { filtersByParty: { [alice.party]: template(COIN) } },
          verbose: false,
        }),
  )
  .extend(
    'open',
    ({ world }) =>
      (protocols: readonly string[], path = UPDATES, headers = {}) =>
        new WebSocket(`${world.url().replace('http', 'ws')}${path}`, [...protocols], { headers }),
  )
  .extend('protocols', ({ world }) => async (user = 'alice') => [
    `jwt.token.${await world.network.token(user)}`,
    'daml.ws.auth',
  ])
  .extend(
    'read',
    ({ client, own }) =>
      async (beginExclusive: number, endInclusive: number) =>
        await client.post(UPDATES, { beginExclusive, endInclusive, updateFormat: own() }),
  )
type Given = Pick<FixturesOf<typeof it>, 'party' | 'bob' | 'own'>

const filters = (identifierFilter?: object) =>
  identifierFilter === undefined ? {} : { cumulative: [{ identifierFilter }] }
const template = (templateId: string) => filters({ TemplateFilter: { value: { templateId } } })
const holding = (interfaceId: string) =>
  filters({ InterfaceFilter: { value: { interfaceId, includeInterfaceView: true } } })

const format = (of: object, shape = 'TRANSACTION_SHAPE_ACS_DELTA') => ({
  includeTransactions: { eventFormat: { filtersByParty: of }, transactionShape: shape },
})

/** `code status`, or the text where nothing was decoded, or the number of elements. */
function outcome({ status, type, body }: HttpAnswer): string {
  if (type === 'text/plain') return `${status} ${body}`
  return status === 200
    ? `${(body as unknown as unknown[]).length} elements`
    : `${status} ${body['code']}`
}

describe('validation of updates, in its order (§L3.1)', () => {
  // Each row also breaks a rule of a later row.
  const rows: [string, string, (given: Given) => Promise<unknown> | unknown][] = [
    ['0 malformed JSON', '400 the body is not JSON', () => '{"beginExclusive": 0'],
    ['0 not an object', '400 body: must be an object', () => '[]'],
    ['0 beginExclusive missing', '400 body.beginExclusive: is missing', () => ({})],
    ['0 wrong type', '400 body.beginExclusive: must be an integer', () => ({ beginExclusive: {} })],
    [
      '0 unknown shape',
      '400 body.updateFormat.includeTransactions.transactionShape: must be one of',
      () => ({ beginExclusive: -1, updateFormat: format({}, 'SHAPE') }),
    ],
    [
      '0 shape missing',
      '400 body.updateFormat.includeTransactions.transactionShape: is missing',
      () => ({ beginExclusive: 0, updateFormat: { includeTransactions: { eventFormat: {} } } }),
    ],
    [
      '0 an identifier of two parts',
      '400 body.updateFormat.includeTransactions.eventFormat.filtersByParty.',
      ({ party }: Given) => ({
        beginExclusive: -1,
        updateFormat: format({ [party()]: template('#a:B') }),
      }),
    ],
    [
      '2 both formats',
      '400 INVALID_ARGUMENT',
      ({ bob }: Given) => ({
        beginExclusive: -1,
        updateFormat: format({ [bob.party]: {} }),
        filter: {},
      }),
    ],
    [
      '2 updateFormat and verbose',
      '400 INVALID_ARGUMENT',
      ({ own }: Given) => ({ beginExclusive: -1, updateFormat: own(), verbose: true }),
    ],
    ['2 no format', '400 INVALID_ARGUMENT', () => ({ beginExclusive: -1 })],
    [
      "3 another party's updates",
      '403 NA',
      ({ bob }: Given) => ({ beginExclusive: -1, updateFormat: format({ [bob.party]: {} }) }),
    ],
    [
      '3 everyone, even with an empty filter',
      '403 NA',
      () => ({ beginExclusive: -1, filter: { filtersForAnyParty: {} } }),
    ],
    [
      "3 everyone's topology",
      '403 NA',
      () => ({
        beginExclusive: -1,
        updateFormat: {
          includeTopologyEvents: { includeParticipantAuthorizationEvents: { parties: [] } },
        },
      }),
    ],
    [
      '4 negative begin',
      '400 NEGATIVE_OFFSET',
      ({ own }: Given) => ({ beginExclusive: -1, descendingOrder: true, updateFormat: own() }),
    ],
    [
      '5 descending without end',
      '400 DESCENDING_ORDER_MISSING_END',
      ({ own }: Given) => ({ beginExclusive: 1e9, descendingOrder: true, updateFormat: own() }),
    ],
    [
      '6 end of 0',
      '400 NON_POSITIVE_OFFSET',
      ({ own }: Given) => ({ beginExclusive: 1e9, endInclusive: 0, updateFormat: own() }),
    ],
    [
      '7 begin after the end of the ledger, beyond 2^53',
      '400 OFFSET_AFTER_LEDGER_END',
      ({ own }: Given) => ({
        beginExclusive: '9007199254740993',
        endInclusive: 1e9,
        updateFormat: own(),
      }),
    ],
    [
      '8 end after the end of the ledger',
      '400 OFFSET_AFTER_LEDGER_END',
      () => ({ beginExclusive: 0, endInclusive: 1e9, updateFormat: format({}) }),
    ],
    [
      '9 no event format',
      '400 MISSING_FIELD',
      () => ({
        beginExclusive: 2,
        endInclusive: 1,
        updateFormat: {
          includeTransactions: { transactionShape: 'TRANSACTION_SHAPE_ACS_DELTA' },
        },
      }),
    ],
    [
      '9 shape unspecified',
      '400 MISSING_FIELD',
      ({ party }: Given) => ({
        beginExclusive: 2,
        endInclusive: 1,
        updateFormat: format({ [party()]: {} }, 'TRANSACTION_SHAPE_UNSPECIFIED'),
      }),
    ],
    [
      '9 no party',
      '400 INVALID_ARGUMENT',
      () => ({ beginExclusive: 2, endInclusive: 1, updateFormat: format({}) }),
    ],
    [
      '9 a package id in a filter',
      '400 INVALID_FIELD',
      ({ party }: Given) => ({
        beginExclusive: 2,
        endInclusive: 1,
        updateFormat: format({ [party()]: template(`${'ab'.repeat(32)}:Coin:Coin`) }),
      }),
    ],
    [
      '10 an unknown package',
      '404 PACKAGE_NAMES_NOT_FOUND',
      ({ party }: Given) => ({
        beginExclusive: 2,
        endInclusive: 1,
        updateFormat: format({ [party()]: template('#unknown:Coin:Coin') }),
      }),
    ],
    [
      '10 an unknown template',
      '404 NO_TEMPLATES_FOR_PACKAGE_NAME_AND_QUALIFIED_NAME',
      ({ party }: Given) => ({
        beginExclusive: 2,
        endInclusive: 1,
        updateFormat: format({ [party()]: template(HOLDING) }),
      }),
    ],
    [
      '10 an unknown interface',
      '404 NO_INTERFACE_FOR_PACKAGE_NAME_AND_QUALIFIED_NAME',
      ({ party }: Given) => ({
        beginExclusive: 2,
        endInclusive: 1,
        updateFormat: format({ [party()]: holding(COIN) }),
      }),
    ],
    [
      '11 an empty range',
      '0 elements',
      ({ own }: Given) => ({ beginExclusive: 1, endInclusive: 1, updateFormat: own() }),
    ],
    [
      '12 a reversed range',
      '400 OFFSET_OUT_OF_RANGE',
      ({ own }: Given) => ({ beginExclusive: 2, endInclusive: 1, updateFormat: own() }),
    ],
  ]

  it.for(rows)('%s: %s', async ([_, want, body], { client, party, bob, own }) => {
    expect(outcome(await client.post(UPDATES, await body({ party, bob, own })))).toContain(want)
  })

  it('0 before 1: an undecodable request is refused for any caller; then the token is checked', async ({
    world,
  }) => {
    const anyone = world.anyone()
    expect(outcome(await anyone.post(UPDATES, {}))).toContain('400 body.beginExclusive')
    expect(outcome(await anyone.post(`${UPDATES}?limit=x`, { beginExclusive: 0 }))).toContain(
      '400 query parameter limit: must be an integer',
    )
    const refused = await anyone.post(UPDATES, { beginExclusive: -1 })
    expect(refused).toAnswer(401)
    expect(refused.body).toEqual({
      code: 'NA',
      cause: 'A security-sensitive error has been received',
      correlationId: null,
      traceId: expect.any(String),
      context: {},
      resources: [],
      errorCategory: -1,
      grpcCodeValue: 16,
      retryInfo: null,
      definiteAnswer: null,
    })
  })

  it.for([
    ['a malformed token', 'Bearer abc', '401 NA'],
    ['an empty token', 'Bearer ', '400 header Authorization'],
    ['another scheme', 'Basic abc', '400 header Authorization'],
  ] as const)('1 %s', async ([_, authorization, want], { client }) => {
    const answer = await client.post(UPDATES, '{"beginExclusive":-1}', { authorization })
    expect(`${answer.status} ${answer.text}`.replace('{"code":"', '')).toContain(want)
  })

  it('1 an unknown user is 403, without a reason', async ({ world, own }) => {
    const stranger = await world.clientOf('stranger')
    const answer = await stranger.post(UPDATES, { beginExclusive: 0, updateFormat: own() })
    expect(answer).toAnswer(403)
    expect(answer.body).toMatchObject({
      code: 'NA',
      grpcCodeValue: 7,
      context: { ledger_api_error: 'invalid token' },
    })
  })

  it('errors of the ledger have ten members', async ({ client, own }) => {
    const answer = await client.post(UPDATES, { beginExclusive: 1e9, updateFormat: own() })
    expect(answer.body).toEqual({
      code: 'OFFSET_AFTER_LEDGER_END',
      cause: expect.stringMatching(/^Begin offset \(1000000000\) is after ledger end \(\d+\)$/),
      correlationId: null,
      traceId: expect.any(String),
      context: {
        category: '12',
        definite_answer: 'false',
        participant: expect.stringMatching(/^participant::1220/),
        tid: expect.any(String),
      },
      resources: [],
      errorCategory: 12,
      grpcCodeValue: 11,
      retryInfo: '1 second',
      definiteAnswer: null,
    })
  })
})

describe('lists (§L3.2)', () => {
  it('an open-ended request ends after the idle timeout', async ({ ledgerEnd, client, own }) => {
    const end = await ledgerEnd()
    const answer = await client.post(`/${UPDATES}?limit=200&stream_idle_timeout_ms=200`, {
      beginExclusive: 0,
      verbose: false,
      updateFormat: own(),
    })
    expect(answer).toAnswer(200)
    const elements = answer.body as unknown as Record<string, never>[]
    expect(elements.length).toBeGreaterThan(0)
    const bounded = await client.post(UPDATES, {
      beginExclusive: 0,
      endInclusive: end,
      updateFormat: own(),
    })
    const transactions = (list: readonly unknown[]) =>
      list.filter((element) => !JSON.stringify(element).includes('OffsetCheckpoint'))
    expect(transactions(elements)).toEqual(bounded.body)
  })

  it('end with a progress message at the end of the ledger', async ({ ledgerEnd, client }) => {
    const begin = await ledgerEnd()
    const answer = await client.post(`${UPDATES}?stream_idle_timeout_ms=900`, {
      beginExclusive: begin,
      updateFormat: {},
    })
    expect(answer.body).toEqual([
      {
        update: {
          OffsetCheckpoint: {
            value: {
              offset: expect.any(Number),
              synchronizerTimes: [
                {
                  synchronizerId: expect.stringContaining('::1220'),
                  recordTime: expect.stringMatching(/Z$/),
                },
              ],
            },
          },
        },
      },
    ])
  })

  it('accepts a limit up to the maximum; zero and less return an empty list', async ({
    ledgerEnd,
    own,
    client,
  }) => {
    const end = await ledgerEnd()
    const body = { beginExclusive: 0, endInclusive: end, updateFormat: own() }
    expect(outcome(await client.post(`${UPDATES}?limit=1`, body))).toBe('1 elements')
    expect(outcome(await client.post(`${UPDATES}?limit=0`, body))).toBe('0 elements')
    expect(outcome(await client.post(`${UPDATES}?limit=-5`, body))).toBe('0 elements')
  })

  it('the legacy filter shows the topology of the parties that it names (D-27)', async ({
    client,
    ledgerEnd,
    alice,
  }) => {
    const answer = await client.post(UPDATES, {
      beginExclusive: 0,
      endInclusive: await ledgerEnd(),
      filter: { filtersByParty: { [alice.party]: {} } },
    })
    const texts = (answer.body as unknown as unknown[]).map((element) => JSON.stringify(element))
    const topology = texts.filter((element) => element.includes('ParticipantAuthorizationAdded'))
    expect(topology).toHaveLength(1)
    expect(topology[0]).toContain(alice.party)
  })

  it('a body of more than 8 MiB is 413, as text', async ({ client }) => {
    const answer = await client.post(UPDATES, `{"beginExclusive":0${' '.repeat(8 * 1024 * 1024)}}`)
    expect(answer).toAnswer(413)
    expect(answer.type).toBe('text/plain')
  })

  it('10 000 parties without rights are refused like a single one', async ({ client }) => {
    const many = Object.fromEntries(
      Array.from({ length: 10_000 }, (_, index) => [`p${index}::1220${'0'.repeat(64)}`, {}]),
    )
    expect(
      outcome(await client.post(UPDATES, { beginExclusive: 0, updateFormat: format(many) })),
    ).toBe('403 NA')
  })

  it('an unknown path is 404 with an error body of a special form', async ({ client }) => {
    const answer = await client.get('/v2/unknown')
    expect(answer).toAnswer(404)
    expect(answer.body).toEqual({
      errors: ['HttpMethod(GET), uri: /v2/unknown'],
      status: 404,
      ledgerApiError: null,
    })
  })
})

describe('single updates (§L3.5)', () => {
  it('are found by id and by offset, as the stream shows them', async ({ all, own, client }) => {
    const [first] = await all()
    const { updateId, offset } = first?.update.Transaction.value ?? { updateId: '', offset: 0 }
    const updateFormat = own()
    expect((await client.post(`${UPDATES}/update-by-id`, { updateId, updateFormat })).body).toEqual(
      first,
    )
    expect(
      (await client.post(`${UPDATES}/update-by-offset`, { offset, updateFormat })).body,
    ).toEqual(first)
  })

  it.for([
    ['update-by-id', {}, '400 MISSING_FIELD'],
    ['update-by-id', { updateId: 'é' }, '400 INVALID_FIELD'],
    ['update-by-id', { updateId: `1220${'0'.repeat(64)}` }, '404 UPDATE_NOT_FOUND'],
    ['update-by-id', { updateId: 'something' }, '404 UPDATE_NOT_FOUND'],
    ['update-by-offset', { offset: 0 }, '400 NON_POSITIVE_OFFSET'],
    ['update-by-offset', { offset: 1e9 }, '404 UPDATE_NOT_FOUND'],
  ] as const)('%s of %j is %s', async ([path, body, want], { client, own }) => {
    expect(outcome(await client.post(`${UPDATES}/${path}`, { ...body, updateFormat: own() }))).toBe(
      want,
    )
    expect(outcome(await client.post(`${UPDATES}/${path}`, body))).toBe('400 MISSING_FIELD')
  })
})

describe('updates at their former paths (D-28)', () => {
  it('flats return the same as updates', async ({ legacy, client }) => {
    const body = await legacy()
    expect((await client.post(`${UPDATES}/flats`, body)).body).toEqual(
      (await client.post(UPDATES, body)).body,
    )
  })

  it('trees show the events of LEDGER_EFFECTS by their node ids', async ({
    client,
    legacy,
    alice,
  }) => {
    const { body: trees } = await client.post(`${UPDATES}/trees`, await legacy())
    const { body: effects } = await client.post(UPDATES, {
      ...(await legacy({ filter: undefined })),
      updateFormat: format({ [alice.party]: {} }, 'TRANSACTION_SHAPE_LEDGER_EFFECTS'),
    })
    type Events = Record<string, { nodeId: number }>
    const asTrees = effects.map(({ update }: { update: Record<string, never> }) => {
      const { events, externalTransactionHash, paidTrafficCost, ...value } = (
        update['Transaction'] as unknown as { value: Record<string, never> }
      ).value
      expect([externalTransactionHash, paidTrafficCost]).toEqual([null, null])
      const eventsById = Object.fromEntries(
        (events as unknown as Events[]).map((event) => {
          const [[kind, of] = ['', { nodeId: -1 }]] = Object.entries(event)
          return [of.nodeId, { [kind.replace('Event', 'TreeEvent')]: { value: of } }]
        }),
      )
      return { update: { TransactionTree: { value: { ...value, eventsById } } } }
    })
    expect(asTrees.length).toBeGreaterThan(0)
    expect(trees).toEqual(asTrees)
  })

  it.for([
    ['updateFormat', '400 INVALID_ARGUMENT', ({ own }: Given) => ({ updateFormat: own() })],
    ['no filter', '400 INVALID_ARGUMENT', () => ({ filter: undefined })],
    [
      'a template',
      '400 INVALID_ARGUMENT',
      ({ bob }: Given) => ({ filter: { filtersByParty: { [bob.party]: template(COIN) } } }),
    ],
    [
      'an interface',
      '400 INVALID_ARGUMENT',
      ({ bob }: Given) => ({ filter: { filtersByParty: { [bob.party]: holding(HOLDING) } } }),
    ],
    [
      'of another party',
      '403 NA',
      ({ bob }: Given) => ({ filter: { filtersByParty: { [bob.party]: {} } } }),
    ],
    ['a negative begin', '400 NEGATIVE_OFFSET', () => ({ beginExclusive: -1 })],
  ] as const)('trees refuse %s', async ([_, want, more], { client, legacy, own, bob, party }) => {
    expect(
      outcome(await client.post(`${UPDATES}/trees`, await legacy(more({ own, bob, party })))),
    ).toBe(want)
  })
})

describe('active contracts (§L5.2)', () => {
  const ids = ({ body }: HttpAnswer): string[] =>
    (body as { contractEntry: { JsActiveContract: { createdEvent: { contractId: string } } } }[])
      .map(({ contractEntry }) => contractEntry.JsActiveContract.createdEvent.contractId)
      .sort()

  it('at an offset are those created and not yet archived', async ({
    alice,
    bob,
    world,
    ledgerEnd,
    client,
    at,
  }) => {
    await alice.client.post('/v0/wallet/tap', { amount: '1.0' })
    await alice.client.post('/v0/wallet/token-standard/transfers', {
      receiver_party_id: bob.party,
      amount: '1.0',
      description: '',
      expires_at: world.network.clock.nowMicros() + 3_600_000_000,
      tracking_id: 'acs',
    })
    const end = await ledgerEnd()
    const updates = (
      await client.post(UPDATES, {
        beginExclusive: 0,
        endInclusive: end,
        updateFormat: format({ [alice.party]: template(COIN) }),
      })
    ).body as {
      update: {
        Transaction: { value: { offset: number; events: Record<string, { contractId: string }>[] } }
      }
    }[]
    const active = new Set<string>()
    let archived = 0
    for (const { update } of updates) {
      for (const { CreatedEvent, ArchivedEvent } of update.Transaction.value.events) {
        if (CreatedEvent !== undefined) active.add(CreatedEvent.contractId)
        if (ArchivedEvent !== undefined) archived++
        if (ArchivedEvent !== undefined) active.delete(ArchivedEvent.contractId)
      }
      expect(ids(await at(update.Transaction.value.offset))).toEqual([...active].sort())
    }
    expect(archived).toBeGreaterThan(0)
    expect(ids(await at(0))).toEqual([])
  })

  it.for([
    ['no format', {}, '400 INVALID_ARGUMENT'],
    ['a negative offset', { activeAtOffset: -1, eventFormat: {} }, '400 NEGATIVE_OFFSET'],
    [
      'an offset after the end',
      { activeAtOffset: 1e9, eventFormat: {} },
      '400 OFFSET_AFTER_LEDGER_END',
    ],
    ['no party', { activeAtOffset: 0, eventFormat: {} }, '400 INVALID_ARGUMENT'],
    ['everyone', { activeAtOffset: -1, filter: { filtersForAnyParty: {} } }, '403 NA'],
    ['what does not decode', { activeAtOffset: 'x' }, '400 body.activeAtOffset'],
  ] as const)('refuse %s: %j', async ([_, body, want], { client }) => {
    expect(outcome(await client.post(ACTIVE, { activeAtOffset: 0, ...body }))).toContain(want)
  })

  it('name the synchronizer', async ({ client, world, bob }) => {
    expect((await client.get('/v2/state/connected-synchronizers')).body).toEqual({
      connectedSynchronizers: [
        {
          synchronizerAlias: 'global',
          synchronizerId: world.network.genesis.synchronizerId,
          permission: 'PARTICIPANT_PERMISSION_SUBMISSION',
        },
      ],
    })
    const other = `/v2/state/connected-synchronizers?party=${encodeURIComponent(bob.party)}`
    expect(await client.get(other)).toAnswer(403)
  })
})

describe('over WebSocket (§L3.6)', () => {
  type Ended = { frames: Record<string, never>[]; code: number; reason: string }

  const ended = (socket: WebSocket, request?: unknown): Promise<Ended> =>
    new Promise((resolve, reject) => {
      const frames: Record<string, never>[] = []
      socket.on('open', () => {
        if (request === undefined) return
        socket.send(typeof request === 'string' ? request : JSON.stringify(request))
        socket.send('later frames are ignored')
      })
      socket.on('message', (data) => frames.push(JSON.parse(String(data))))
      socket.on('close', (code, reason) => resolve({ frames, code, reason: String(reason) }))
      socket.on('error', reject)
    })

  it('delivers the same updates as HTTP, with the sub-protocols in either order', async ({
    ledgerEnd,
    alice,
    client,
    protocols,
    open,
  }) => {
    const request = {
      beginExclusive: 0,
      endInclusive: await ledgerEnd(),
      filter: { filtersByParty: { [alice.party]: {} } },
      verbose: true,
    }
    const { body } = await client.post(UPDATES, request)
    for (const order of [await protocols(), (await protocols()).reverse()]) {
      const socket = open(order, `/${UPDATES}`)
      const { frames, code } = await ended(socket, request)
      expect(socket.protocol).toBe('daml.ws.auth')
      expect(frames).toEqual(body)
      expect(code).toBe(1000)
    }
  })

  it('delivers the active contracts that HTTP delivers', async ({
    alice,
    ledgerEnd,
    client,
    open,
    protocols,
  }) => {
    const path = '/v2/state/active-contracts'
    const filter = { filtersByParty: { [alice.party]: {} } }
    const request = { activeAtOffset: await ledgerEnd(), filter }
    const { body } = await client.post(path, request)
    const { frames } = await ended(open(await protocols(), path), request)
    const sorted = (list: readonly unknown[]) => list.map((one) => JSON.stringify(one)).sort()
    expect(body.length).toBeGreaterThan(0)
    expect(sorted(frames)).toEqual(sorted(body))
  })

  it('sends a subscriber the completion of a submission', async ({
    ledgerEnd,
    open,
    protocols,
    alice,
    client,
    world,
  }) => {
    const beginExclusive = await ledgerEnd()
    const socket = open(await protocols(), '/v2/commands/completions')
    const frame = new Promise<string>((resolve) => {
      socket.on('message', (data) => {
        if (!String(data).includes('OffsetCheckpoint')) resolve(String(data))
      })
    })
    await once(socket, 'open')
    socket.send(JSON.stringify({ parties: [alice.party], beginExclusive }))
    const refused = { commands: [], commandId: 'c', actAs: [alice.party] }
    expect(outcome(await client.post('/v2/commands/async/submit', refused))).toBe(
      '400 MISSING_FIELD',
    )
    const { rules, disclosedContracts } = await genesisContracts(world)
    const tapped = {
      templateId: '#quorumscan-coin:Coin.Rules:CoinRules',
      contractId: rules['CoinRules'],
      choice: 'CoinRules_DevNet_Tap',
      choiceArgument: { receiver: alice.party, amount: '1' },
    }
    const commands = [{ ExerciseCommand: tapped }]
    const request = { ...refused, commands, disclosedContracts }
    expect(await client.post('/v2/commands/async/submit', request)).toAnswer(200)
    // A synchronous refusal has no completion, and its command id can be used again.
    expect(JSON.parse(await frame)).toMatchObject({
      completionResponse: { Completion: { value: { commandId: 'c', status: { code: 0 } } } },
    })
    socket.close()
    await once(socket, 'close')
  })

  it('takes the token from the header, too', async ({ world, ledgerEnd, own, open }) => {
    const authorization = `Bearer ${await world.network.token('alice')}`
    const request = { beginExclusive: 0, endInclusive: await ledgerEnd(), updateFormat: own() }
    const { frames } = await ended(open([], UPDATES, { authorization }), request)
    expect(frames.length).toBeGreaterThan(0)
  })

  it.for([
    ['no token', ['daml.ws.auth'], UPDATES, '401'],
    ['a malformed token', ['daml.ws.auth', 'jwt.token.abc'], UPDATES, '401'],
    ['an unknown path', ['daml.ws.auth'], '/v2/unknown', '404'],
  ] as const)('refuses the upgrade for %s', async ([_, given, path, status], { open }) => {
    await expect(ended(open(given, path))).rejects.toThrow(status)
  })

  it.for([
    ['what is no JSON', 'no JSON', 'INVALID_ARGUMENT'],
    ['a request that does not decode', {}, 'INVALID_ARGUMENT'],
    ['a request that is refused', { beginExclusive: -1, updateFormat: {} }, 'NEGATIVE_OFFSET'],
  ] as const)(
    'answers %s with an error as a frame, and ends',
    async ([_, request, code], { open, protocols }) => {
      const { frames } = await ended(open(await protocols()), request)
      expect(frames).toHaveLength(1)
      expect(frames[0]).toMatchObject({ code, errorCategory: 8, grpcCodeValue: 3 })
    },
  )

  it('closes on a frame of more than 1 MiB', async ({ open, protocols }) => {
    const { code } = await ended(open(await protocols()), `"${'x'.repeat(1024 * 1024)}"`)
    expect(code).toBe(1009)
  })

  it('sends a subscriber new updates while it waits', async ({
    ledgerEnd,
    open,
    protocols,
    own,
    alice,
  }) => {
    const begin = await ledgerEnd()
    const socket = open(await protocols())
    await once(socket, 'open')
    const seen = new Promise<Record<string, never>>((resolve) => {
      socket.on('message', (data) => {
        const frame = JSON.parse(String(data))
        if (frame.update.Transaction !== undefined) resolve(frame)
      })
    })
    socket.send(JSON.stringify({ beginExclusive: begin, updateFormat: own() }))
    await alice.client.post('/v0/wallet/tap', { amount: '1.0' })
    const frame = JSON.stringify(await seen)
    expect(frame).toContain('CreatedEvent')
    socket.close()
    await once(socket, 'close')
  })

  it('ends with an error when the rights of the user change', async ({
    world,
    open,
    protocols,
    admin,
  }) => {
    await world.registered('carol', null)
    const carol = await world.clientOf('carol')
    const { body } = await carol.get('/v2/authenticated-user')
    const party = String((body['user'] as unknown as Record<string, unknown>)['primaryParty'])
    const socket = open(await protocols('carol'))
    const end = ended(socket, { beginExclusive: 0, updateFormat: format({ [party]: {} }) })
    await once(socket, 'message')
    const granted = await admin.post('/v2/users/carol/rights', {
      userId: 'carol',
      rights: [{ kind: { CanReadAsAnyParty: { value: {} } } }],
    })
    expect(granted).toAnswer(200)
    const { frames } = await end
    expect(frames.at(-1)).toMatchObject({ code: 'STALE_STREAM_AUTHORIZATION', errorCategory: 2 })
  })

  it('never shows the token in the answer to an upgrade', async ({ world }) => {
    const token = await world.network.token('alice')
    const { port, hostname } = new URL(world.url())
    const socket = connect(Number(port), hostname)
    socket.write(
      `GET ${UPDATES} HTTP/1.1\r\nhost: x\r\nupgrade: websocket\r\nconnection: upgrade\r\n` +
        'sec-websocket-version: 13\r\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n' +
        `sec-websocket-protocol: jwt.token.${token},daml.ws.auth\r\n\r\n`,
    )
    const [data] = await once(socket, 'data')
    expect(String(data)).toMatch(/^HTTP\/1\.1 101/)
    expect(String(data)).toContain('daml.ws.auth')
    expect(String(data)).not.toContain(token)
    socket.destroy()
  })
})

describe('pruning (§L3.1, row 13)', () => {
  it('deletes updates up to an offset, refuses reads there, also after a restart', async ({
    alice,
    ledgerEnd,
    read,
    client,
    admin,
    own,
    world,
  }) => {
    for (const amount of ['1.0', '2.0', '3.0'])
      await alice.client.post('/v0/wallet/tap', { amount })
    const end = await ledgerEnd()
    const before = (await read(0, end)).body as {
      update: { Transaction: { value: { offset: number; updateId: string } } }
    }[]
    const [first, second] = before.map(({ update }) => update.Transaction.value)
    const cut = second?.offset ?? 0
    expect(outcome(await client.post('/v2/participant/prune', { pruneUpTo: cut }))).toBe('403 NA')
    for (const [pruneUpTo, want] of [
      [0, '400 NON_POSITIVE_OFFSET'],
      [1e9, '400 OFFSET_AFTER_LEDGER_END'],
    ] as const)
      expect(outcome(await admin.post('/v2/participant/prune', { pruneUpTo }))).toBe(want)
    const offsets = {
      participantPrunedUpToInclusive: cut,
      allDivulgedContractsPrunedUpToInclusive: cut,
    }
    expect((await admin.post('/v2/participant/prune', { pruneUpTo: cut })).body).toEqual(offsets)
    // A lower offset does not undo pruning.
    expect((await admin.post('/v2/participant/prune', { pruneUpTo: 1 })).body).toEqual(offsets)

    const check = async () => {
      const refused = await read(cut - 1, end)
      expect(outcome(refused)).toBe('400 PARTICIPANT_PRUNED_DATA_ACCESSED')
      expect(refused.body.context).toMatchObject({ earliest_offset: String(cut) })
      // Empty (row 11) and reversed (row 12) ranges are checked before pruning.
      expect(outcome(await read(1, 1))).toBe('0 elements')
      expect(outcome(await read(2, 1))).toBe('400 OFFSET_OUT_OF_RANGE')
      expect((await read(cut, end)).body).toEqual(before.slice(2))
      const { updateId } = first ?? { updateId: '' }
      const byId = await client.post(`${UPDATES}/update-by-id`, { updateId, updateFormat: own() })
      expect(outcome(byId)).toBe('404 UPDATE_NOT_FOUND')
      const active = await client.post('/v2/state/active-contracts', {
        activeAtOffset: cut - 1,
        eventFormat: { filtersByParty: { [alice.party]: {} } },
      })
      expect(outcome(active)).toBe('400 PARTICIPANT_PRUNED_DATA_ACCESSED')
      expect((await client.get('/v2/state/latest-pruned-offsets')).body).toEqual(offsets)
    }
    await check()
    await world.restart()
    client = await world.clientOf('alice')
    await check()
  })
})
