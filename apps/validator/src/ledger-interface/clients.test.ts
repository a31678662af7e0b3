/** What unchanged clients of the ledger interface rely on beyond the reference's tables. */
import { once } from 'node:events'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { WebSocket } from 'ws'
import {
  createLedgerClient,
  type LedgerAnswer,
  type LedgerClient,
} from '../testing/ledger-client.ts'
import { type Person, startWorld, type World } from '../testing/world.ts'

const UPDATES = '/v2/updates'

let world: World
let alice: Person
let client: LedgerClient

beforeAll(async () => {
  world = await startWorld()
  alice = await world.registered('alice')
  client = createLedgerClient(world.url, await world.network.token('alice'))
})
afterAll(async () => {
  await world?.[Symbol.asyncDispose]()
})

const ledgerEnd = async () => Number((await client.get('/v2/state/ledger-end')).body.offset)
const own = () => ({ filtersByParty: { [alice.party]: {} } })
const outcome = ({ status, type, body }: LedgerAnswer) =>
  type === 'text/plain' ? `${status} ${body}` : `${status} ${body.code ?? ''}`

/** The frames that come for a first frame, until the server closes. */
async function framesOf(path: string, request: unknown, headers = {}) {
  const protocols = ['daml.ws.auth', `jwt.token.${await world.network.token('alice')}`]
  const url = `${world.url().replace('http', 'ws')}${path}`
  const socket = new WebSocket(url, protocols, { headers })
  const frames: unknown[] = []
  socket.on('message', (data) => frames.push(JSON.parse(String(data))))
  await once(socket, 'open')
  socket.send(typeof request === 'string' ? request : JSON.stringify(request))
  await once(socket, 'close')
  return frames
}

describe('the second mount point (D-3)', () => {
  it('answers the same over HTTP and WebSocket', async () => {
    const request = { beginExclusive: 0, endInclusive: await ledgerEnd(), filter: own() }
    const { status, body } = await client.post(UPDATES, request)
    expect(status).toBe(200)
    expect(body.length).toBeGreaterThan(0)
    const path = `/api/validator${UPDATES}`
    expect((await client.post(path, request)).body).toEqual(body)
    expect(await framesOf(path, request)).toEqual(body)
  })

  it('says what it does not know in the words of the interface', async () => {
    expect((await client.get('/api/validator/v2/unknown')).body).toMatchObject({
      status: 404,
      ledgerApiError: null,
    })
  })
})

describe('null', () => {
  it('is nothing for every member that may be missing', async () => {
    const nothing = { verbose: null, descendingOrder: null, updateFormat: null }
    const filter = { ...own(), filtersForAnyParty: null }
    const request = { beginExclusive: 0, endInclusive: await ledgerEnd(), filter }
    const answer = await client.post(UPDATES, { ...request, ...nothing })
    expect(answer).toEqual(await client.post(UPDATES, request))
    const cumulative = [{ identifierFilter: null }]
    const wild = { filtersByParty: { [alice.party]: { cumulative } } }
    expect((await client.post(UPDATES, { ...request, filter: wild })).body).toEqual(answer.body)
  })

  it('is not what must be there', async () => {
    expect(outcome(await client.post(UPDATES, { beginExclusive: null, filter: own() }))).toBe(
      '400 body.beginExclusive: must be an integer',
    )
  })
})

describe('int64', () => {
  it.each([
    ['9007199254740993', 'as text'],
    ['9223372036854775807', 'as text'],
    ['9007199254740993', 'as number'],
    ['9223372036854775807', 'as number'],
  ])('%s %s is what the error names', async (digits, form) => {
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
  })

  it.each([
    ['limit', '9223372036854775807'],
    ['limit', '9007199254740993'],
    ['stream_idle_timeout_ms', '9223372036854775807'],
  ])('the parameter %s may be %s', async (name, digits) => {
    const request = { beginExclusive: 0, endInclusive: await ledgerEnd(), filter: own() }
    expect((await client.post(`${UPDATES}?${name}=${digits}`, request)).status).toBe(200)
  })

  it.each(['9223372036854775808', '"9223372036854775808"', '-9223372036854775809', '1e19'])(
    '%s is beyond it',
    async (value) => {
      const body = `{"beginExclusive":${value},"filter":${JSON.stringify(own())}}`
      expect(outcome(await client.post(UPDATES, body))).toBe(
        '400 body.beginExclusive: must be within int64',
      )
    },
  )

  it('is no text, however many digits it has', async () => {
    const body = '{"commands":[],"actAs":[],"commandId":12345678901234567890}'
    expect(outcome(await client.post('/v2/commands/async/submit', body))).toBe(
      '400 body.commandId: must be a string',
    )
  })
})

it.each(['a::c', 'a:b:', ':b:c', '::', 'a:b', 'a:b:c:d'])(
  '%s is no identifier: it does not decode',
  async (templateId) => {
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

it('errors over WebSocket have a trace id: the caller’s request id, or a drawn one', async () => {
  const [named] = await framesOf(
    UPDATES,
    { beginExclusive: -1, filter: own() },
    { 'x-request-id': 'r-7' },
  )
  expect(named).toMatchObject({ code: 'NEGATIVE_OFFSET', traceId: 'r-7', context: { tid: 'r-7' } })
  const [drawn] = await framesOf(UPDATES, '{')
  expect(drawn).toMatchObject({
    code: 'INVALID_ARGUMENT',
    traceId: expect.stringMatching(/^[A-Za-z0-9-]{8,64}$/),
  })
})
