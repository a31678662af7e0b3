/**
 * Each bound that a schema of an operation or of a first frame states, and those of the table "Limits" of the
 * specification that no schema states: one less, and the bound itself, are not refused for it; one more is.
 */
import { once } from 'node:events'
import { ledgerRoutes, socketRoutes } from '@quorumscan/api'
import { send } from '@quorumscan/testkit'
import { memberOf, PARTY } from '@quorumscan/verifier'
import { WebSocket } from 'undici'
import { describe, type ExpectStatic } from 'vitest'
import { type Input, isReachable } from '../../support/routes/case.ts'
import { type AnyRoute, sendCase } from '../../support/routes/send-case.ts'
import type { World } from '../../support/routes/world.ts'
import { type RouteCase, routeCases, socketCases } from '../../support/routes.ts'
import { it } from '../network.ts'
import { type Bound, boundsOf, sampleOf, type Texts, withMember } from '../schema-bounds.ts'

const PARTS = ['params', 'query', 'headers', 'body'] as const
type Part = (typeof PARTS)[number]

/** A member of a request with a bound. */
type Place = { readonly part: Part; readonly schema: object; readonly bound: Bound }

function placesOf(route: AnyRoute): readonly Place[] {
  return PARTS.flatMap((part) => {
    const schema = memberOf(route, part)
    if (typeof schema !== 'object' || schema === null) return []
    const bounds = boundsOf(schema).map((bound) => ({ part, schema, bound }))
    // A list of 200 parties in a query is longer than the 16 KiB of a head, which are refused before it is read.
    return part === 'query' ? bounds.filter(({ bound: { kind } }) => kind !== 'items') : bounds
  })
}

/** The sizes that are allowed, and the one that is not. */
function sizesOf({ kind, limit }: Bound): {
  readonly allowed: readonly number[]
  readonly refused: number
} {
  const isLeast = kind === 'least'
  const inside = isLeast ? limit + 1 : limit - 1
  const isSize = kind === 'items' || kind === 'characters'
  return {
    allowed: [limit, ...(isSize && inside < 1 ? [] : [inside])],
    refused: isLeast ? limit - 1 : limit + 1,
  }
}

/** What a refusal says, without the values in it; null of an answer that refuses nothing. */
function refusalOf(status: number, body: unknown): string | null {
  if (status === 200) return null
  const said = ['error', 'message', 'cause'].map((name) => memberOf(body, name))
  const text = String(said.find((one) => typeof one === 'string') ?? body)
  return `${status}: ${text.replaceAll(/"[^"]*"/g, '"…"').replaceAll(/[0-9]+/g, '…')}`
}

/** Rules that come before the bound, so that no request shows it: the caller has no right to the party, or another member. */
const BEFORE =
  /^403: |security-sensitive|must be unset in a request for trees|differs from the party of the path/

/** Problems with one more than the bound, the bound, and one less. */
async function problemsOf(
  place: string,
  bound: Bound,
  refusalFor: (size: number) => Promise<string | null>,
): Promise<readonly string[]> {
  const { allowed, refused } = sizesOf(bound)
  const { kind, limit } = bound
  const name = `${place}${bound.path.join('.')} (${kind}, ${limit})`
  const refusal = await refusalFor(refused)
  if (refusal === null) return [`${name}: ${refused} is not refused`]
  const problems: string[] = []
  // Another rule may refuse a value of this size, with a sentence of its own.
  for (const size of BEFORE.test(refusal) ? [] : allowed)
    if ((await refusalFor(size)) === refusal)
      problems.push(`${name}: ${size} is refused: ${refusal}`)
  return problems
}

/** Texts that exist, for members that a case leaves out. */
const textsOf = ({ user }: World): Texts => ({
  [PARTY.source]: user.party,
  [LEDGER_PARTY]: user.party,
  '^[^:]+:[^:]+:[^:]+$': '#quorumscan-coin:Coin.Rules:CoinRules',
})
const LEDGER_PARTY = String(
  memberOf(ledgerRoutes.submitAsync.body.properties.actAs.items, 'pattern'),
)

async function expectBounds(
  expect: ExpectStatic,
  world: World,
  { surface, route, of }: RouteCase,
): Promise<void> {
  const { success } = of
  const base: Input = isReachable(success) ? await success(world) : {}
  const texts = textsOf(world)
  const problems: string[] = []
  for (const { part, schema, bound } of placesOf(route)) {
    const sample = sampleOf(schema, texts)
    const known = part === 'params' ? { ...(sample as object), ...base.params } : base[part]
    const refusalFor = async (size: number) => {
      const value = withMember(schema, known ?? sample, { bound, size, texts })
      const { status, body } = await sendCase(world, { ...base, [part]: value, surface, route })
      return refusalOf(status, body)
    }
    problems.push(...(await problemsOf(`${part}.`, bound, refusalFor)))
  }
  expect(problems).toEqual([])
}

/** The answer to a first frame: an element, an error, or the code with which the socket is closed instead. */
async function answerTo(
  world: World,
  path: string,
  frame: string,
): Promise<{ readonly said: unknown; readonly code: number | null }> {
  const socket = new WebSocket(`${world.urls.validator.replace('http', 'ws')}${path}`, {
    headers: { authorization: `Bearer ${world.user.token}` },
  })
  socket.onerror = () => {} // `close` follows.
  try {
    await once(socket, 'open')
    const message = once(socket, 'message').then(([event]) => ({
      said: JSON.parse(String((event as { data: unknown }).data)),
      code: null,
    }))
    const closed = once(socket, 'close').then(([event]) => ({
      said: null,
      code: (event as { code: number }).code,
    }))
    message.catch(() => {})
    socket.send(frame)
    return await Promise.race([message, closed])
  } finally {
    socket.close()
  }
}

async function expectFrameBounds(
  expect: ExpectStatic,
  world: World,
  id: keyof typeof socketRoutes,
): Promise<void> {
  const { path, request: schema } = socketRoutes[id]
  const known = await socketCases[id].success(world)
  const texts = textsOf(world)
  const problems: string[] = []
  for (const bound of boundsOf(schema)) {
    const refusalFor = async (size: number) => {
      const frame = JSON.stringify(withMember(schema, known, { bound, size, texts }))
      const { said } = await answerTo(world, path, frame)
      return refusalOf(memberOf(said, 'cause') === undefined ? 200 : 400, said)
    }
    problems.push(...(await problemsOf('', bound, refusalFor)))
  }
  expect(problems).toEqual([])
}

/** A limit of the table, and whether the product takes what has this size. */
type Limit = {
  readonly limit: number
  /** Sizes that the product takes one after the other are tried in their order. */
  readonly takes: (world: World, size: number) => Promise<boolean>
}

const MIB = 1024 * 1024

const padded = (text: string, bytes: number) => text.padEnd(bytes)
const asUser = ({ user }: World) => ({ authorization: `Bearer ${user.token}` })

const postTo = (world: World, path: string, body: string, headers: Record<string, string>) => {
  const url = path.startsWith('/v0/ans') ? world.urls.scan : world.urls.validator
  const type = { 'content-type': 'application/json' }
  return send(`${url}${path}`, { method: 'POST', headers: { ...type, ...headers }, body })
}

const LOOKUPS = '/v0/ans-entries/batch'
const LEDGER = '/v2/interactive-submission/preferred-packages'
/** Text that the operation takes, with room for more members. */
const ofLookups = (more = '') => `{"lookups":[]${more}}`
const ofPackages = (more = '') => `{"packageVettingRequirements":[{"packageName":"a"}]${more}}`
/** A member that no operation knows, so that a body has this many values. */
const values = (count: number) => `,"x":[${Array(count).fill('0').join()}]`

const takesBody =
  (path: string, text: (size: number) => string): Limit['takes'] =>
  async (world, size) => {
    const { status } = await postTo(world, path, text(size), asUser(world))
    if (![200, 400, 404, 413].includes(status)) throw new Error(`${path} answered ${status}`)
    return status !== 413 && status !== 400
  }

const tapping = (count: number, { user, coinRules, fresh }: World, amount = '1.0') => ({
  commands: Array(count).fill({
    ExerciseCommand: {
      templateId: '#quorumscan-coin:Coin.Rules:CoinRules',
      contractId: coinRules.contract_id,
      choice: 'CoinRules_DevNet_Tap',
      choiceArgument: { receiver: user.party, amount },
    },
  }),
  commandId: fresh(),
  actAs: [user.party],
  disclosedContracts: [{ createdEventBlob: coinRules.created_event_blob }],
})

async function submit(world: World, body: object, path = '/v2/commands/submit-and-wait') {
  return await postTo(world, path, JSON.stringify(body), asUser(world))
}

const takesFrame =
  (id: keyof typeof socketRoutes): Limit['takes'] =>
  async (world, size) => {
    const frame = JSON.stringify(await socketCases[id].success(world))
    return (await answerTo(world, socketRoutes[id].path, padded(frame, size))).code !== 1009
  }

/** By the row of the table, and what in it. `limits.test.ts` compares the numbers with the table. */
export const LIMITS: Readonly<Record<string, Limit>> = {
  'bytes of a body': {
    limit: MIB,
    takes: takesBody(LOOKUPS, (size) => padded(ofLookups(), size)),
  },
  'bytes of a body under /v2': {
    limit: 8 * MIB,
    takes: async (world, size) =>
      (await postTo(world, LEDGER, padded(ofPackages(), size), asUser(world))).status !== 413,
  },
  'bytes of a body under /v2 that is decoded before the token is checked': {
    limit: 256 * 1024,
    takes: async (world, size) =>
      (await postTo(world, LEDGER, padded('{', size), {})).status === 400,
  },
  'values of a body': {
    limit: 4_096,
    // The object, the two lists, of which the empty one counts twice.
    takes: takesBody(LOOKUPS, (size) => ofLookups(values(size - 4))),
  },
  'values of a body under /v2': {
    limit: 32_768,
    takes: async (world, size) => {
      // The object, the two lists, an object, its member.
      const { text } = await postTo(world, LEDGER, ofPackages(values(size - 5)), asUser(world))
      return !text.includes('values')
    },
  },
  'levels of JSON': {
    limit: 64,
    takes: takesBody(LOOKUPS, (size) =>
      ofLookups(`,"x":${'['.repeat(size - 1)}${']'.repeat(size - 1)}`),
    ),
  },
  'bytes of a frame of the proxy': { limit: 16 * 1024, takes: takesFrame('streamActivities') },
  'bytes of a frame under /v2': { limit: MIB, takes: takesFrame('streamCompletions') },
  'commands of a submission': {
    limit: 100,
    takes: async (world, size) => (await submit(world, tapping(size, world))).status === 200,
  },
  'coin of a tap': {
    limit: 10 ** 12,
    takes: async (world, size) =>
      (await submit(world, tapping(1, world, `${size}.0`))).status === 200,
  },
  'seconds that a ledger time is ahead': {
    limit: 60,
    takes: async (world, seconds) => {
      const body = { ...tapping(1, world), minLedgerTimeRel: { seconds } }
      return (await submit(world, body, '/v2/commands/async/submit')).status === 200
    },
  },
  'elements of a list under /v2': {
    limit: 200,
    takes: async (world, size) => {
      const own = { ...world, user: await world.newUser(null) }
      for (let left = size; left > 0; left -= 100)
        await submit(own, tapping(Math.min(left, 100), own))
      const body = {
        activeAtOffset: await world.ledgerEnd(),
        eventFormat: { filtersByParty: { [own.user.party]: {} }, verbose: false },
      }
      const answer = await submit(own, body, '/v2/state/active-contracts')
      if (answer.status === 200 && answer.body.length !== size)
        throw new Error(`${answer.body.length} of ${size} contracts`)
      return answer.status === 200
    },
  },
}

export function describeBoundaries(): void {
  describe.each(['scan', 'synchronizer', 'validator', 'ledger'] as const)(
    'of the %s',
    (surface) => {
      const ofSurface = routeCases.filter(
        (one) => one.surface === surface && placesOf(one.route).length > 0,
      )
      it.concurrent.for(ofSurface.map((one) => [one.route.operationId, one] as const))(
        '%s keeps each bound of its request',
        async ([, one], { expect, world }) => expectBounds(expect, world, one),
      )
    },
  )

  const sockets = Object.keys(socketRoutes) as (keyof typeof socketRoutes)[]
  it.concurrent.for(sockets.filter((id) => boundsOf(socketRoutes[id].request).length > 0))(
    'the WebSocket %s keeps each bound of its first frame',
    async (id, { expect, world }) => expectFrameBounds(expect, world, id),
  )

  it.concurrent.for(Object.entries(LIMITS))(
    '%s',
    async ([, { limit, takes }], { expect, world }) => {
      const took: [number, boolean][] = []
      for (const size of [limit - 1, limit, limit + 1]) took.push([size, await takes(world, size)])
      expect(took).toEqual([
        [limit - 1, true],
        [limit, true],
        [limit + 1, false],
      ])
    },
  )
}
