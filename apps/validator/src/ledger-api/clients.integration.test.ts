/**
 * Behavior that unchanged clients of the ledger interface need beyond the reference's tables.
 *
 * @module-tag rest
 */

import { once } from 'node:events'
import { request as httpRequest } from 'node:http'
import { type HttpAnswer, send } from '@quorumscan/testkit'
import { describe, expect } from 'vitest'
import { WebSocket } from 'ws'
import { itWithPeople } from '../testing/world-fixtures.ts'

const UPDATES = '/v2/updates'

const it = itWithPeople
  .extend(
    'ledgerEnd',
    ({ client }) =>
      async () =>
        Number((await client.get('/v2/state/ledger-end')).body.offset),
  )
  .extend('own', ({ alice }) => () => ({ filtersByParty: { [alice.party]: {} } }))
  /** The frames that answer a first frame, until the server closes. */
  .extend('framesOf', ({ world }) => async (path: string, request: unknown, headers = {}) => {
    const protocols = ['daml.ws.auth', `jwt.token.${await world.network.token('alice')}`]
    const url = `${world.url().replace('http', 'ws')}${path}`
    const socket = new WebSocket(url, protocols, { headers })
    const frames: unknown[] = []
    socket.on('message', (data) => frames.push(JSON.parse(String(data))))
    await once(socket, 'open')
    socket.send(typeof request === 'string' ? request : JSON.stringify(request))
    await once(socket, 'close')
    return frames
  })
  .extend(
    'tap',
    ({ contracts, alice }) =>
      (more: object = {}) =>
        contracts.tapRequest(alice.party, more),
  )
  /** The completion at an offset. */
  .extend('completionAt', ({ client, alice }) => async (offset: number) => {
    const answer = await client.post('/v2/commands/completions', {
      parties: [alice.party],
      beginExclusive: offset - 1,
    })
    return answer.body[0].completionResponse.Completion.value
  })
  .extend('submitTraced', ({ client, tap, own, completionAt }) => async (header: string) => {
    const { body } = await client.post(WAIT, tap(), { traceparent: header })
    const { completionOffset: offset } = body
    const request = { beginExclusive: offset - 1, endInclusive: offset, filter: own() }
    const [{ update }] = (await client.post(UPDATES, request)).body
    return [update.Transaction.value.traceContext, (await completionAt(offset)).traceContext]
  })
  .extend('submitFor', ({ client, tap, completionAt }) => async (deduplicationPeriod: object) => {
    const { body } = await client.post(WAIT, tap({ deduplicationPeriod }))
    const offset: number = body.completionOffset
    const { deduplicationPeriod: period } = await completionAt(offset)
    expect(Object.keys(period)).toEqual(['DeduplicationOffset'])
    return { offset, value: period.DeduplicationOffset.value }
  })
  .extend(
    'contractsAt',
    ({ client, own }) =>
      async (activeAtOffset: number) =>
        (await client.post('/v2/state/active-contracts', { activeAtOffset, eventFormat: own() }))
          .body as {
          contractEntry: { JsActiveContract: { createdEvent: { contractId: string } } }
        }[],
  )
  .extend(
    'eventsOf',
    ({ own, client }) =>
      async (contractId: unknown, eventFormat: object = own(), as = client) =>
        await as.post('/v2/events/events-by-contract-id', { contractId, eventFormat }),
  )
  /** The events that an update has for alice, by kind. */
  .extend(
    'eventsAt',
    ({ client, own }) =>
      async (offset: number, shape: 'ACS_DELTA' | 'LEDGER_EFFECTS' = 'ACS_DELTA') => {
        const { body } = await client.post(`${UPDATES}/update-by-offset`, {
          offset,
          updateFormat: {
            includeTransactions: {
              transactionShape: `TRANSACTION_SHAPE_${shape}`,
              eventFormat: own(),
            },
          },
        })
        const { events } = body.update.Transaction.value
        const of = (kind: string): Record<string, unknown>[] =>
          events.flatMap((event: Record<string, object>) => event[kind] ?? [])
        return { created: of('CreatedEvent'), archived: of('ArchivedEvent') }
      },
  )
  /** A coin of alice that is created, and then archived by a merge. */
  .extend('lifeOfCoin', ({ client, tap, eventsAt, alice }) => async () => {
    const { completionOffset: came } = (await client.post(WAIT, tap())).body
    const [createdEvent] = (await eventsAt(came)).created
    const merge = structuredClone(tap())
    const exercise = merge.commands[0]?.ExerciseCommand
    const inputs = [createdEvent?.['contractId']]
    Object.assign(exercise ?? {}, {
      choice: 'CoinRules_Transfer',
      choiceArgument: { sender: alice.party, inputs, outputs: [] },
    })
    const archive = async () => {
      const { completionOffset: went } = (await client.post(WAIT, merge)).body
      const [archivedEvent] = (await eventsAt(went)).archived
      return { went: Number(went), archivedEvent }
    }
    return { id: String(createdEvent?.['contractId']), came: Number(came), createdEvent, archive }
  })

const outcome = ({ status, type, body }: HttpAnswer) =>
  type === 'text/plain' ? `${status} ${body}` : `${status} ${body.code ?? ''}`

describe('the second mount point (D-3)', () => {
  it('answers the same over HTTP and WebSocket', async ({ ledgerEnd, own, client, framesOf }) => {
    const request = { beginExclusive: 0, endInclusive: await ledgerEnd(), filter: own() }
    const { status, body } = await client.post(UPDATES, request)
    expect(status).toBe(200)
    expect(body.length).toBeGreaterThan(0)
    const path = `/api/validator${UPDATES}`
    expect((await client.post(path, request)).body).toEqual(body)
    expect(await framesOf(path, request)).toEqual(body)
  })

  it('answers unknown paths with an error of the ledger interface', async ({ client }) => {
    expect((await client.get('/api/validator/v2/unknown')).body).toMatchObject({
      status: 404,
      ledgerApiError: null,
    })
  })
})

it('health at the root is that of the interface, below the prefix that of all apps', async ({
  world,
}) => {
  const answerOf = async (path: string) => {
    const { status, headers, text } = await send(`${world.url()}${path}`)
    return [status, headers.get('content-type'), text]
  }
  expect(await answerOf('/livez')).toEqual([200, null, ''])
  expect(await answerOf('/readyz')).toEqual([
    200,
    'text/plain; charset=utf-8',
    '[+] ledger ok (SERVING)\nreadyz check passed\n',
  ])
  expect(await answerOf('/api/validator/readyz')).toEqual([200, null, ''])
})

describe('null', () => {
  it('counts as absent for every optional member', async ({ own, ledgerEnd, client, alice }) => {
    const nothing = { verbose: null, descendingOrder: null, updateFormat: null }
    const filter = { ...own(), filtersForAnyParty: null }
    const request = { beginExclusive: 0, endInclusive: await ledgerEnd(), filter }
    const answer = await client.post(UPDATES, { ...request, ...nothing })
    expect(answer.text).toBe((await client.post(UPDATES, request)).text)
    const cumulative = [{ identifierFilter: null }]
    const wild = { filtersByParty: { [alice.party]: { cumulative } } }
    expect((await client.post(UPDATES, { ...request, filter: wild })).body).toEqual(answer.body)
  })

  it('is refused for a required member', async ({ client, own }) => {
    expect(outcome(await client.post(UPDATES, { beginExclusive: null, filter: own() }))).toBe(
      '400 body.beginExclusive: must be an integer',
    )
  })
})

describe('int64', () => {
  it.for([
    ['9007199254740993', 'as text'],
    ['9223372036854775807', 'as text'],
    ['9007199254740993', 'as number'],
    ['9223372036854775807', 'as number'],
  ] as const)(
    '%s %s appears exactly in the error',
    async ([digits, form], { own, client, framesOf, alice }) => {
      const value = form === 'as text' ? `"${digits}"` : digits
      const filter = JSON.stringify(own())
      const begin = await client.post(UPDATES, `{"beginExclusive":${value},"filter":${filter}}`)
      expect(outcome(begin)).toBe('400 OFFSET_AFTER_LEDGER_END')
      expect(begin.body.cause).toContain(`(${digits})`)
      const end = `{"beginExclusive":0,"endInclusive": ${value},"filter":${filter}}`
      expect((await client.post(UPDATES, end)).body.cause).toContain(`(${digits})`)
      const [frame] = await framesOf(UPDATES, end)
      expect(frame).toMatchObject({ cause: expect.stringContaining(`(${digits})`) })
      const at = `{"activeAtOffset":${value},"filter":${filter}}`
      expect((await client.post('/v2/state/active-contracts', at)).body.cause).toContain(digits)
      const completions = `{"parties":["${alice.party}"],"beginExclusive":${value}}`
      expect((await client.post('/v2/commands/completions', completions)).body.cause).toContain(
        digits,
      )
    },
  )

  it.for([
    ['limit', '9223372036854775807'],
    ['limit', '9007199254740993'],
    ['stream_idle_timeout_ms', '9223372036854775807'],
  ] as const)('the parameter %s may be %s', async ([name, digits], { ledgerEnd, own, client }) => {
    const request = { beginExclusive: 0, endInclusive: await ledgerEnd(), filter: own() }
    expect(await client.post(`${UPDATES}?${name}=${digits}`, request)).toAnswer(200)
  })

  it.for(['9223372036854775808', '"9223372036854775808"', '-9223372036854775809', '1e19'])(
    '%s is refused as out of range',
    async (value, { own, client }) => {
      const body = `{"beginExclusive":${value},"filter":${JSON.stringify(own())}}`
      expect(outcome(await client.post(UPDATES, body))).toBe(
        '400 body.beginExclusive: must be within int64',
      )
    },
  )

  it('is refused where text is required, however many digits it has', async ({ client }) => {
    const body = '{"commands":[],"actAs":[],"commandId":12345678901234567890}'
    expect(outcome(await client.post('/v2/commands/async/submit', body))).toBe(
      '400 body.commandId: must be a string',
    )
  })
})

it.for(['a::c', 'a:b:', ':b:c', '::', 'a:b', 'a:b:c:d'])(
  'the invalid template identifier %s does not decode',
  async (templateId, { alice, client }) => {
    const identifierFilter = { TemplateFilter: { value: { templateId } } }
    const filter = { filtersByParty: { [alice.party]: { cumulative: [{ identifierFilter }] } } }
    expect(outcome(await client.post(UPDATES, { beginExclusive: 0, filter }))).toMatch(
      /^400 body\.filter\..*templateId: must be of the form/,
    )
    const command = { templateId, contractId: '00', choice: 'C', choiceArgument: {} }
    const body = { commands: [{ ExerciseCommand: command }], actAs: [alice.party], commandId: 'c' }
    expect(outcome(await client.post('/v2/commands/async/submit', body))).toMatch(
      /^400 body\.commands\[0\]\.ExerciseCommand\.templateId: must be of the form/,
    )
  },
)

it('errors have a trace id: of the trace, else the request id, else a random one', async ({
  framesOf,
  own,
  world,
  client,
}) => {
  const [named] = await framesOf(
    UPDATES,
    { beginExclusive: -1, filter: own() },
    { 'x-request-id': 'r-7' },
  )
  expect(named).toMatchObject({ code: 'NEGATIVE_OFFSET', traceId: 'r-7', context: { tid: 'r-7' } })
  const trace = '0af7651916cd43dd8448eb211c80319c'
  const headers = { 'x-request-id': 'r-7', traceparent: `00-${trace}-b7ad6b7169203331-01` }
  const request = { beginExclusive: -1, filter: own() }
  const [traced] = await framesOf(UPDATES, request, headers)
  expect(traced).toMatchObject({ traceId: trace, context: { tid: trace } })
  const authorization = `Bearer ${await world.network.token('alice')}`
  for (const token of [authorization, 'Bearer eyJ.e30.x']) {
    const answer = await client.post(UPDATES, request, { ...headers, authorization: token })
    expect(answer.body).toMatchObject({ traceId: trace })
  }
  const [drawn] = await framesOf(UPDATES, '{')
  expect(drawn).toMatchObject({
    code: 'INVALID_ARGUMENT',
    traceId: expect.stringMatching(/^[A-Za-z0-9-]{8,64}$/),
  })
})

const WAIT = '/v2/commands/submit-and-wait'

describe('traceparent', () => {
  const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'

  it('of a submission is in its update and completion', async ({ submitTraced }) => {
    const context = { traceparent, tracestate: null }
    expect(await submitTraced(traceparent)).toEqual([context, context])
  })

  it('that is malformed is ignored', async ({ submitTraced }) => {
    expect(await submitTraced('nonsense')).toEqual([null, null])
  })
})

describe('the deduplication period of a completion', () => {
  const DAYS = { DeduplicationDuration: { value: { seconds: 86_400, nanos: 0 } } }
  const MOMENT = { DeduplicationDuration: { value: { seconds: 0, nanos: 1000 } } }

  it('is the offset after which completions count, also if requested as a duration', async ({
    submitFor,
  }) => {
    const first = await submitFor({ DeduplicationOffset: { value: 1 } })
    expect(first.value).toBe(1)
    // Longer than the ledger exists, so the offset is 0.
    expect((await submitFor(DAYS)).value).toBe(0)
    // A microsecond before its record time: only its own completion is after that.
    const short = await submitFor(MOMENT)
    expect(short.value).toBeGreaterThanOrEqual(first.offset)
    expect(short.value).toBeLessThan(short.offset)
  })
})

describe('operations that most clients use', () => {
  it('deletes users, whose tokens are then refused', async ({ admin, world, client }) => {
    await admin.post('/v2/users', { user: { id: 'gone' } })
    const ofGone = await world.clientOf('gone')
    expect(await ofGone.get('/v2/authenticated-user')).toAnswer(200)
    expect(await admin.send('DELETE', '/v2/users/gone')).toMatchObject({ status: 200, body: {} })
    expect(await ofGone.get('/v2/authenticated-user')).toAnswer(403)
    expect(outcome(await admin.send('DELETE', '/v2/users/gone'))).toBe('404 USER_NOT_FOUND')
    expect(await client.send('DELETE', '/v2/users/alice')).toAnswer(403)
    const own = await admin.send('DELETE', '/v2/users/participant_admin')
    expect(outcome(own)).toBe('400 INVALID_ARGUMENT')
  })

  it('knows the default identity provider only', async ({ admin }) => {
    const wrong = 'identity-provider-id=other'
    for (const answer of [
      await admin.get(`/v2/users?${wrong}`),
      await admin.get(`/v2/users/alice?${wrong}`),
      await admin.get(`/v2/users/alice/rights?${wrong}`),
      await admin.get(`/v2/parties?${wrong}`),
      await admin.post('/v2/users/alice/rights', { identityProviderId: 'other', rights: [] }),
      await admin.patch('/v2/users/alice/identity-provider-id', {
        userId: 'alice',
        targetIdentityProviderId: 'other',
      }),
    ])
      expect(outcome(answer)).toBe('400 INVALID_ARGUMENT')
    const same = { userId: 'alice', sourceIdentityProviderId: '', targetIdentityProviderId: '' }
    expect(await admin.patch('/v2/users/alice/identity-provider-id', same)).toMatchObject({
      status: 200,
      body: {},
    })
    expect(await admin.get('/v2/users/alice?identity-provider-id=')).toAnswer(200)
  })

  it('changes the annotations of a party', async ({ alice, admin, client }) => {
    const path = `/v2/parties/${encodeURIComponent(alice.party)}`
    const localMetadata = { annotations: { colour: 'blue' } }
    const body = {
      partyDetails: { party: alice.party, localMetadata },
      updateMask: { paths: ['local_metadata.annotations'] },
    }
    const changed = await admin.patch(path, body)
    expect(changed.body.partyDetails).toMatchObject({ party: alice.party, localMetadata })
    expect((await admin.get(path)).body.partyDetails).toMatchObject([{ localMetadata }])
    expect(outcome(await admin.patch(path, { ...body, updateMask: null }))).toBe(
      '400 MISSING_FIELD',
    )
    expect(await client.patch(path, body)).toAnswer(403)
  })

  it('lists packages', async ({ client }) => {
    const { packageIds } = (await client.get('/v2/packages')).body
    expect(packageIds).toHaveLength(4)
    expect(packageIds[0]).toMatch(/^[0-9a-f]{64}$/)
  })

  it('returns a transaction by its id', async ({ client, tap, own }) => {
    const { updateId } = (await client.post(WAIT, tap())).body
    const path = '/v2/updates/transaction-by-id'
    const transactionFormat = {
      transactionShape: 'TRANSACTION_SHAPE_LEDGER_EFFECTS',
      eventFormat: own(),
    }
    const { transaction } = (await client.post(path, { updateId, transactionFormat })).body
    expect(transaction).toMatchObject({ updateId, events: [{ ExercisedEvent: {} }, {}] })
    expect(outcome(await client.post(path, { updateId }))).toBe('400 MISSING_FIELD')
    const unknown = { updateId: `1220${'0'.repeat(64)}`, transactionFormat }
    expect(outcome(await client.post(path, unknown))).toBe('404 UPDATE_NOT_FOUND')
  })

  it('returns pages of active contracts at one offset', async ({
    client,
    tap,
    ledgerEnd,
    contractsAt,
    own,
  }) => {
    await client.post(WAIT, tap())
    const at = await ledgerEnd()
    const whole = await contractsAt(at)
    expect(whole.length).toBeGreaterThan(2)
    const path = '/v2/state/active-contracts-page'
    const found: unknown[] = []
    let pageToken: string | null = null
    do {
      // Later pages have the offset of the first page, without activeAtOffset.
      const begin = pageToken === null ? { activeAtOffset: at } : {}
      const body: object = { ...begin, eventFormat: own(), maxPageSize: 2, pageToken }
      const page = (await client.post(path, body)).body
      expect(page.activeContracts.length).toBeLessThanOrEqual(2)
      expect(page.activeAtOffset).toBe(at)
      found.push(...page.activeContracts)
      pageToken = page.nextPageToken
      // Contracts created meanwhile are on no page.
      await client.post(WAIT, tap())
    } while (pageToken !== null)
    const sorted = (list: readonly unknown[]) => list.map((one) => JSON.stringify(one)).sort()
    expect(sorted(found)).toEqual(sorted(whole))
    for (const wrong of [{ maxPageSize: 0 }, { maxPageSize: 2001 }, { pageToken: 'x' }])
      expect(outcome(await client.post(path, { eventFormat: own(), ...wrong }))).toBe(
        '400 INVALID_ARGUMENT',
      )
  })

  it('accepts the request for such a page as the body of a GET', async ({ world, own }) => {
    const authorization = `Bearer ${await world.network.token('alice')}`
    const status = await new Promise((resolve, reject) => {
      const url = `${world.url()}/v2/state/active-contracts-page`
      const body = JSON.stringify({ eventFormat: own() })
      const headers = { authorization, 'content-length': Buffer.byteLength(body) }
      const asked = httpRequest(url, { method: 'GET', headers }, (response) => {
        response.resume()
        resolve(response.statusCode)
      })
      asked.on('error', reject)
      asked.end(body)
    })
    expect(status).toBe(200)
  })
})

describe('events of a contract by its id', () => {
  const NOT_FOUND = '404 CONTRACT_EVENTS_NOT_FOUND'

  it('are its creation, and its archival once it is archived', async ({
    world,
    lifeOfCoin,
    eventsOf,
    client,
    admin,
  }) => {
    const { synchronizerId } = world.network.genesis
    const { id, createdEvent, came, archive } = await lifeOfCoin()
    expect(createdEvent).toMatchObject({ contractId: id, offset: came })
    const created = { createdEvent, synchronizerId }
    expect((await eventsOf(id)).body).toEqual({ created, archived: null })
    const { went, archivedEvent } = await archive()
    expect(archivedEvent).toMatchObject({ contractId: id, offset: went })
    const archived = { archivedEvent, synchronizerId }
    expect((await eventsOf(id)).body).toEqual({ created, archived })
    await world.restart()
    client = await world.clientOf('alice')
    admin = await world.clientOf('participant_admin')
    expect((await eventsOf(id)).body).toEqual({ created, archived })
  })

  it('are both present if one update creates and archives it', async ({
    world,
    client,
    eventsAt,
    ledgerEnd,
    alice,
    eventsOf,
    own,
  }) => {
    const bob = await world.registered('bob', null)
    const offer = {
      receiver_party_id: bob.party,
      amount: '1.0',
      description: '',
      expires_at: world.network.clock.nowMicros() + 3_600_000_000,
      tracking_id: 'transient',
    }
    const made = await client.post('/v0/wallet/token-standard/transfers', offer)
    const { transfer_instruction_cid: instruction } = made.body.output
    const path = `/v0/wallet/token-standard/transfers/${instruction}/accept`
    const beginExclusive = await ledgerEnd()
    expect(await bob.client.post(path, {})).toAnswer(200)
    // One update releases the locked coin and gives it to bob. A checkpoint may follow.
    const since = { beginExclusive, endInclusive: await ledgerEnd(), filter: own() }
    const [{ update }] = (await client.post(UPDATES, since)).body
    const { created } = await eventsAt(update.Transaction.value.offset, 'LEDGER_EFFECTS')
    const isOfAlice = ({ signatories }: Record<string, unknown>) =>
      (signatories as string[]).includes(alice.party)
    const createdEvent = created.find((event) => event['acsDelta'] === false && isOfAlice(event))
    const { contractId, offset } = createdEvent ?? {}
    const found = await eventsOf(contractId)
    const seen = { contractId, offset, witnessParties: [alice.party] }
    expect(found.body).toMatchObject({
      created: { createdEvent: { ...createdEvent, ...seen } },
      archived: { archivedEvent: seen },
    })
    const asBob = { filtersByParty: { [bob.party]: {} } }
    expect(outcome(await eventsOf(contractId, asBob, bob.client))).toBe(NOT_FOUND)
  })

  it('are not found for an unknown id, another party or another template', async ({
    lifeOfCoin,
    world,
    alice,
    own,
    client,
    contracts,
    eventsOf,
  }) => {
    const { id, archive } = await lifeOfCoin()
    await archive()
    const bob = await world.clientOf('bob')
    const { body } = await bob.get('/v2/authenticated-user')
    const asBob = { filtersByParty: { [body.user.primaryParty]: {} } }
    const templateId = '#quorumscan-name-service:Ans:AnsEntry'
    const cumulative = [{ identifierFilter: { TemplateFilter: { value: { templateId } } } }]
    const entries = { filtersByParty: { [alice.party]: { cumulative } } }
    for (const [unseen, format, as] of [
      [`00${'0'.repeat(64)}`, own(), client],
      [contracts.rules['CoinRules'], own(), client],
      [id, asBob, bob],
      [id, entries, client],
    ] as const)
      expect(outcome(await eventsOf(unseen, format, as)), JSON.stringify(format)).toBe(NOT_FOUND)
    expect(await eventsOf(id)).toAnswer(200)
  })

  it('are returned until the archival is pruned, even if the creation is', async ({
    lifeOfCoin,
    admin,
    eventsOf,
  }) => {
    const { id, came, createdEvent, archive } = await lifeOfCoin()
    const { went, archivedEvent } = await archive()
    for (const pruneUpTo of [came, went - 1]) {
      expect(await admin.post('/v2/participant/prune', { pruneUpTo })).toAnswer(200)
      expect((await eventsOf(id)).body).toMatchObject({
        created: { createdEvent },
        archived: { archivedEvent },
      })
    }
    expect(await admin.post('/v2/participant/prune', { pruneUpTo: went })).toAnswer(200)
    expect(outcome(await eventsOf(id))).toBe(NOT_FOUND)
  })
})

it.for(['http://%sfoo', 'https://a/%', 'https://a/%4', 'https://%zz'])(
  'a name is not created with the url %s',
  async (url, { alice }) => {
    const fields = { name: 'percent.unverified.ns', url, description: '' }
    const { status, body } = await alice.client.post('/v0/entry/create', fields)
    expect([status, body['code']]).toEqual([400, 'INVALID_URL'])
  },
)
