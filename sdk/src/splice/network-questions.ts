/** Questions about the network itself, of which only what is equal on all its scans is told. */
import { activitiesBytesMax } from '@quorumscan/reader'
import { toCamel } from '../platform/camel.ts'
import { type ContractId, isContractId } from '../platform/contract-id.ts'
import {
  isObject,
  type JsonObject,
  type JsonValue,
  membersOf,
  readAll,
  text,
  whole,
} from './exact-json.ts'
import { type Question, question } from './question.ts'

/** A contract as the ledger has it. */
export type SpliceContract = {
  /** With the package id. */
  readonly templateId: string
  readonly contractId: ContractId
  /** In the names of its template. Integers and decimals of the ledger are texts. */
  readonly payload: JsonObject
  /** To disclose it with a command; Base64. */
  readonly createdEventBlob: string
  /** ISO-8601 UTC. */
  readonly createdAt: string
  /** The synchronizer that it is assigned to; null while it moves, and where the scan does not say. */
  readonly domainId: string | null
}

/** The operator and its rules. */
export type SpliceDso = {
  readonly dsoPartyId: string
  /** Votes that a change of the rules needs; says nothing about reads. */
  readonly votingThreshold: number
  /** The newest round, which may not be open yet. */
  readonly latestMiningRound: SpliceContract
  readonly amuletRules: SpliceContract
  readonly dsoRules: SpliceContract
  /** In order of their contract ids. */
  readonly svNodeStates: readonly SpliceContract[]
  readonly initialRound: string | null
}

/** Addresses of the scans of one synchronizer, in order of the names. */
export type SpliceScans = {
  readonly domainId: string
  readonly scans: readonly { readonly svName: string; readonly publicUrl: string }[]
}

/** Rounds that can be used, in order of their numbers. */
export type SpliceRounds = {
  readonly open: readonly SpliceContract[]
  readonly issuing: readonly SpliceContract[]
}

/** What owners held at a moment. */
export type SpliceHoldings = {
  /** Of the snapshot; ISO-8601 UTC. */
  readonly recordTime: string
  readonly migrationId: number
  readonly computedAsOfRound: number
  /** A row for each owner, in order of the parties; amounts are decimal texts. */
  readonly summaries: readonly (JsonObject & { readonly partyId: string })[]
}

/** One row of the history of coin; `offset`, which differs between scans, is left out. */
export type SpliceActivity = JsonObject & {
  readonly eventId: string
  readonly activityType: string
  /** ISO-8601 UTC. */
  readonly date: string
}

const KIB = 1024
/** Fifty times what thirteen super-validators say of themselves. */
const DSO_BYTES_MAX = 4096 * KIB
/** A thousand scans with long addresses. */
const SCANS_BYTES_MAX = 512 * KIB
/** A contract of rules with many future values, or some dozen rounds. */
const CONTRACTS_BYTES_MAX = 1024 * KIB

export const askDso = question<SpliceDso>(
  { path: '/v0/dso', what: 'the operator', bytesMax: DSO_BYTES_MAX },
  (body) =>
    whole<SpliceDso>({
      dsoPartyId: text(body['dso_party_id']),
      votingThreshold: count(body['voting_threshold']),
      latestMiningRound: readContract(body['latest_mining_round']),
      amuletRules: readContract(body['amulet_rules']),
      dsoRules: readContract(body['dso_rules']),
      svNodeStates: readAll(body['sv_node_states'], readContract)?.sort(byContractId),
      initialRound: textOrNull(body['initial_round']),
    }),
)

export const askScans = question<readonly SpliceScans[]>(
  { path: '/v0/scans', what: 'the addresses of the scans', bytesMax: SCANS_BYTES_MAX },
  (body) =>
    readAll(body['scans'], (domain) => {
      const { domainId, scans } = membersOf(domain)
      return whole<SpliceScans>({
        domainId: text(domainId),
        scans: readAll(scans, readScan)?.sort(
          by(({ svName, publicUrl }) => `${svName} ${publicUrl}`),
        ),
      })
    })?.sort(by(({ domainId }) => domainId)),
)

export const askAnsRules = question<SpliceContract>(
  { path: '/v0/ans-rules', what: 'the rules of names', bytesMax: CONTRACTS_BYTES_MAX, body: {} },
  (body) => readContract(body['ans_rules_update']),
)

export const askRounds = question<SpliceRounds>(
  {
    path: '/v0/open-and-issuing-mining-rounds',
    what: 'the rounds',
    bytesMax: CONTRACTS_BYTES_MAX,
    body: { cached_open_mining_round_contract_ids: [], cached_issuing_round_contract_ids: [] },
  },
  (body) =>
    whole<SpliceRounds>({
      open: readRounds(body['open_mining_rounds']),
      issuing: readRounds(body['issuing_mining_rounds']),
    }),
)

export const askClosedRounds = question<readonly SpliceContract[]>(
  { path: '/v0/closed-rounds', what: 'the closed rounds', bytesMax: CONTRACTS_BYTES_MAX },
  // Contracts without their synchronizer.
  (body) => readAll(body['rounds'], (contract) => readContract({ contract }))?.sort(byRound),
)

/** Which holdings. */
export type HoldingsRequest = {
  readonly migrationId: number
  /** A moment; ISO-8601 UTC. */
  readonly recordTime: string
  /** `exact` (default): there is a snapshot of that very moment. Else the newest one that is not younger. */
  readonly recordTimeMatch?: 'exact' | 'at_or_before'
  readonly ownerPartyIds: readonly string[]
  /** Fees are computed as of this round; say it, since scans that lag take an older one by default. */
  readonly asOfRound?: number
}

export function askHoldings(request: HoldingsRequest): Question<SpliceHoldings> {
  const { migrationId, recordTime, recordTimeMatch = 'exact', ownerPartyIds, asOfRound } = request
  return question<SpliceHoldings>(
    {
      path: '/v0/holdings/summary',
      what: 'the holdings',
      bytesMax: ownerPartyIds.length * KIB + 4 * KIB,
      body: {
        migration_id: migrationId,
        record_time: recordTime,
        record_time_match: recordTimeMatch,
        owner_party_ids: ownerPartyIds,
        ...(asOfRound === undefined ? {} : { as_of_round: asOfRound }),
      },
    },
    (body) =>
      whole<SpliceHoldings>({
        recordTime: text(body['record_time']),
        migrationId: count(body['migration_id']),
        computedAsOfRound: count(body['computed_as_of_round']),
        summaries: readAll(body['summaries'], readSummary)?.sort(by(({ partyId }) => partyId)),
      }),
  )
}

export function askActivities(page: {
  readonly pageSize: number
  readonly after: string | null
}): Question<readonly SpliceActivity[]> {
  const { pageSize, after } = page
  // Upstream knows one order, and ignores this; our nodes begin with the oldest unless told.
  const order = { page_size: pageSize, sort_order: 'desc' }
  return question<readonly SpliceActivity[]>(
    {
      path: '/v0/activities',
      what: 'the activities',
      bytesMax: activitiesBytesMax(pageSize),
      body: { ...order, ...(after === null ? {} : { begin_after_id: after }) },
    },
    (body) => {
      const activities = readAll(body['activities'], readActivity)
      return activities && activities.length <= pageSize ? activities : undefined
    },
  )
}

/** With the synchronizer beside it. */
export function readContract(value: JsonValue | undefined): SpliceContract | undefined {
  const { contract, domain_id } = membersOf(value)
  const { template_id, contract_id, payload, created_event_blob, created_at } = membersOf(contract)
  return whole<SpliceContract>({
    templateId: text(template_id),
    contractId: isContractId(contract_id) ? contract_id : undefined,
    payload: isObject(payload) ? payload : undefined,
    createdEventBlob: text(created_event_blob),
    createdAt: text(created_at),
    domainId: textOrNull(domain_id),
  })
}

function readRounds(value: JsonValue | undefined): SpliceContract[] | undefined {
  if (!isObject(value)) return undefined
  const rounds = readAll(Object.values(value), readContract)
  const isKeyed = rounds?.every(({ contractId }) => Object.hasOwn(value, contractId))
  return isKeyed === true ? rounds?.sort(byRound) : undefined
}

function readScan(scan: JsonValue): SpliceScans['scans'][number] | undefined {
  const { svName, publicUrl } = membersOf(scan)
  return whole({ svName: text(svName), publicUrl: text(publicUrl) })
}

function readSummary(row: JsonValue): SpliceHoldings['summaries'][number] | undefined {
  return isObject(row) && typeof row['party_id'] === 'string'
    ? (toCamel(row) as SpliceHoldings['summaries'][number])
    : undefined
}

function readActivity(row: JsonValue): SpliceActivity | undefined {
  const { offset: _, ...shared } = membersOf(row)
  const isOne = ['event_id', 'activity_type', 'date'].every(
    (name) => text(shared[name]) !== undefined,
  )
  return isOne ? (toCamel(shared) as SpliceActivity) : undefined
}

function count(value: JsonValue | undefined): number | undefined {
  return Number.isSafeInteger(value) ? (value as number) : undefined
}

/** null where it is missing; undefined if it is anything else. */
function textOrNull(value: JsonValue = null): string | null | undefined {
  return value === null ? null : text(value)
}

/** Sorts by name, in UTF-16 units; undefined if a name occurs twice. */
export function sortNames<T extends { readonly name: string }>(all: T[]): T[] | undefined {
  all.sort(by(({ name }) => name))
  return all.some(({ name }, index) => all[index - 1]?.name === name) ? undefined : all
}

function by<T>(keyOf: (value: T) => string): (a: T, b: T) => number {
  return (a, b) => {
    const [first, second] = [keyOf(a), keyOf(b)]
    return first < second ? -1 : Number(first > second)
  }
}

const byContractId = by<SpliceContract>(({ contractId }) => contractId)

/** Their numbers are texts of digits: a longer one is larger. */
const byRound = by<SpliceContract>(({ payload, contractId }) => {
  const round = payload['round']
  const number = isObject(round) ? String(round['number']) : ''
  return `${number.padStart(20, '0')} ${contractId}`
})
