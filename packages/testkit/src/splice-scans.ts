/**
 * Scans of a small Splice network: real HTTP servers whose answers have the shapes of the published document.
 * `behave` makes one of them misbehave.
 */
import type { ScanTypes as Schemas } from '@canton-network/core-splice-client'
import { serve, type TestServer } from './serve.ts'

export type ScanEntry = Schemas['AnsEntry']

/** A reply to a request. */
export type ScanReply = {
  readonly status: number
  readonly text: string
  readonly headers?: Readonly<Record<string, string>>
  /** Delay of the reply, in ms. */
  readonly afterMs?: number
}

/** How a scan replies to a request. `honest` is the correct reply; with null the scan never replies. */
export type ScanBehaviour = (
  request: { readonly method: string; readonly path: string; readonly count: number },
  honest: ScanReply,
) => ScanReply | null

/** The data of the network. */
export type ScanWorld = {
  svNames: string[]
  entries: ScanEntry[]
  round: number
  activities: object[]
}

export type RunningScans = AsyncDisposable & {
  readonly world: ScanWorld
  /** The addresses of `/v0/scans`, by name. */
  readonly addresses: readonly { readonly svName: string; readonly publicUrl: string }[]
  /** Base URLs, in order of the names. */
  readonly urls: readonly string[]
  /** Sets the behaviour of a scan from now on. Without a behaviour it becomes honest again. */
  behave(svName: string, behaviour?: ScanBehaviour): void
  /** The requests that a scan received. */
  requests(svName: string): readonly string[]
}

const DOMAIN = 'global-domain::1220'.padEnd(60, 'd')
const DSO = 'DSO::1220'.padEnd(60, 'e')
/** Upstream's microsecond times leave out zeros at their end. */
const CREATED_AT = '2026-01-30T08:39:18.3Z'

/** Starts scans on this machine. All super-validators know each other. */
export async function startScans(options: {
  readonly svNames: readonly string[]
  readonly entries?: readonly ScanEntry[]
}): Promise<RunningScans> {
  const { svNames, entries = [] } = options
  const world: ScanWorld = {
    svNames: [...svNames],
    entries: [...entries],
    round: 7,
    activities: [],
  }
  const behaviours = new Map<string, ScanBehaviour>()
  const requests = new Map(svNames.map((name) => [name, [] as string[]]))
  const servers = new Map<string, TestServer>()

  const start = async (svName: string): Promise<{ svName: string; publicUrl: string }> => {
    const server = await serve(async (request, response) => {
      const pieces: Buffer[] = []
      for await (const piece of request) pieces.push(piece)
      const { method = '', url: path = '' } = request
      const received = requests.get(svName) as string[]
      received.push(`${method} ${path}`)
      const body = Buffer.concat(pieces).toString() || '{}'
      const honest = honestReply({ world, svName, addresses }, path, JSON.parse(body))
      const behaviour = behaviours.get(svName)
      const reply = behaviour ? behaviour({ method, path, count: received.length }, honest) : honest
      if (reply === null) return
      if (reply.afterMs !== undefined) await new Promise((done) => setTimeout(done, reply.afterMs))
      response.setHeader('access-control-allow-origin', '*')
      response.writeHead(reply.status, { 'content-type': 'application/json', ...reply.headers })
      response.end(reply.text)
    })
    servers.set(svName, server)
    return { svName, publicUrl: server.url }
  }
  const addresses: { svName: string; publicUrl: string }[] = []
  addresses.push(...(await Promise.all(svNames.map(start))))

  return {
    world,
    addresses,
    urls: addresses.map(({ publicUrl }) => publicUrl),
    behave(svName, behaviour) {
      if (behaviour === undefined) behaviours.delete(svName)
      else behaviours.set(svName, behaviour)
    },
    requests: (svName) => requests.get(svName) ?? [],
    async [Symbol.asyncDispose]() {
      for (const server of servers.values()) {
        await server[Symbol.asyncDispose]()
      }
    },
  }
}

type AnsweringScan = {
  readonly world: ScanWorld
  /** The super-validator that answers. */
  readonly svName: string
  readonly addresses: readonly { readonly svName: string; readonly publicUrl: string }[]
}

const json = (body: object, status = 200): ScanReply => ({ status, text: JSON.stringify(body) })
const absent = (error: string): ScanReply => json({ error } satisfies Schemas['ErrorResponse'], 404)

function honestReply(
  answering: AnsweringScan,
  url: string,
  body: Record<string, unknown>,
): ScanReply {
  const { world } = answering
  const { pathname, searchParams } = new URL(url, 'http://scan')
  const [, prefix, value = ''] =
    /^\/api\/scan(\/v0\/ans-entries\/by-(?:name|party))\/(.+)$/.exec(pathname) ?? []
  const key = decodeURIComponent(value)
  if (prefix?.endsWith('name')) {
    const entry = world.entries.find(({ name }) => name === key)
    return entry ? json({ entry }) : absent(`No ans entry found for name: ${key}`)
  }
  if (prefix?.endsWith('party')) {
    const entry = world.entries.find(({ user }) => user === key)
    return entry ? json({ entry }) : absent(`No ans entry found for party: ${key}`)
  }
  switch (pathname.replace('/api/scan', '')) {
    case '/v0/ans-entries': {
      const starts = searchParams.get('name_prefix') ?? ''
      const found = world.entries.filter(({ name }) => name.startsWith(starts))
      return json({ entries: found.slice(0, Number(searchParams.get('page_size'))) })
    }
    case '/v0/dso':
      return json(dsoInfo(answering))
    case '/v0/scans':
      return json({ scans: [{ domainId: DOMAIN, scans: [...answering.addresses] }] })
    case '/v0/ans-rules':
      return json({ ans_rules_update: contract('Splice.Ans:AnsRules', { dso: DSO }) })
    case '/v0/open-and-issuing-mining-rounds':
      return json({
        time_to_live_in_microseconds: 1_000_000 + answering.svName.length,
        open_mining_rounds: Object.fromEntries(
          [world.round, world.round - 1].map((number) => [
            idOf(`round ${number}`),
            roundOf(number),
          ]),
        ),
        issuing_mining_rounds: {},
      } satisfies Schemas['GetOpenAndIssuingMiningRoundsResponse'])
    case '/v0/closed-rounds':
      return json({ rounds: [roundOf(2).contract, roundOf(1).contract] })
    case '/v0/holdings/summary':
      return json({
        record_time: String(body['record_time']),
        migration_id: Number(body['migration_id']),
        computed_as_of_round: world.round,
        summaries: (body['owner_party_ids'] as string[]).map(summaryOf),
      } satisfies Schemas['HoldingsSummaryResponse'])
    case '/v0/activities': {
      const after = world.activities.findIndex(
        (row) => 'event_id' in row && row.event_id === body['begin_after_id'],
      )
      return json({
        activities: world.activities.slice(after + 1, after + 1 + Number(body['page_size'])),
      })
    }
    default:
      return {
        status: 404,
        text: 'The requested resource could not be found.',
        headers: { 'content-type': 'text/plain' },
      }
  }
}

function dsoInfo({ world, svName }: AnsweringScan): Schemas['GetDsoInfoResponse'] {
  const svs = world.svNames.map((name) => [partyOf(name), { name, svRewardWeight: '10000' }])
  return {
    sv_user: `user of ${svName}`,
    sv_party_id: partyOf(svName),
    dso_party_id: DSO,
    voting_threshold: 3,
    latest_mining_round: roundOf(world.round),
    amulet_rules: contract('Splice.AmuletRules:AmuletRules', { dso: DSO, isDevNet: false }),
    dso_rules: contract('Splice.DsoRules:DsoRules', { dso: DSO, svs }),
    sv_node_states: world.svNames.map((name) =>
      contract('Splice.DSO.SvState:SvNodeState', { svName: name }),
    ),
    initial_round: '0',
  }
}

function summaryOf(party: string): Schemas['HoldingsSummary'] {
  return {
    party_id: party,
    total_unlocked_coin: '12.5000000000',
    total_locked_coin: '0.0000000000',
    total_coin_holdings: '12.5000000000',
    accumulated_holding_fees_unlocked: '0.0000000000',
    accumulated_holding_fees_locked: '0.0000000000',
    accumulated_holding_fees_total: '0.0000000000',
    total_available_coin: '12.5000000000',
  }
}

function roundOf(number: number): Schemas['ContractWithState'] {
  return contract(
    'Splice.Round:OpenMiningRound',
    { round: { number: String(number) } },
    `round ${number}`,
  )
}

function contract(
  template: string,
  payload: object,
  name = template,
): Schemas['ContractWithState'] {
  return {
    contract: {
      template_id: `${'3'.repeat(64)}:${template}`,
      contract_id: idOf(name),
      payload: payload as Record<string, never>, // The document declares only an object.
      created_event_blob: 'CgMyLjE=',
      created_at: CREATED_AT,
    },
    domain_id: DOMAIN,
  }
}

/** A contract id that encodes a text. */
export function idOf(text: string): string {
  return `00${Buffer.from(text).toString('hex')}`.padEnd(66, '0')
}

/** The party of a super-validator. */
export function partyOf(name: string): string {
  return `${name}::1220${'a'.repeat(64)}`
}
