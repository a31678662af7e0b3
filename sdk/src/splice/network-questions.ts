/** Questions about the network. Answers leave out members that differ between scans. */
import { activitiesBytesMax } from '@quorumscan/reader'
import { invalidArgument } from '../errors.ts'
import { assertTexts } from '../platform/arguments.ts'
import { renameMembers } from '../platform/camel.ts'
import { anything, assertOptions, isOneOf, isText, isWhole } from '../platform/options.ts'
import { type ContractId, isContractId } from '../platform/values.ts'
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
  /** Includes the package id. */
  readonly templateId: string
  readonly contractId: ContractId
  /** Has the member names of the template. Integers and decimals of the ledger are texts. */
  readonly payload: JsonObject
  /** For disclosure with a command; Base64. */
  readonly createdEventBlob: string
  /** ISO-8601 UTC. */
  readonly createdAt: string
  /** The synchronizer of the contract; null while it moves, or if the scan does not name it. */
  readonly domainId: string | null
}

/** The operator and its rules. */
export type SpliceDso = {
  readonly dsoPartyId: string
  /** Votes that a change of the rules needs. Reads do not use it. */
  readonly votingThreshold: number
  /** The newest round, which may not be open yet. */
  readonly latestMiningRound: SpliceContract
  readonly amuletRules: SpliceContract
  readonly dsoRules: SpliceContract
  /** Sorted by contract id. */
  readonly svNodeStates: readonly SpliceContract[]
  readonly initialRound: string | null
}

/** Addresses of the scans of one synchronizer, in order of the names. */
export type SpliceScans = {
  readonly domainId: string
  readonly scans: readonly { readonly svName: string; readonly publicUrl: string }[]
}

/** Open and issuing rounds, in order of their numbers. */
export type SpliceRounds = {
  readonly open: readonly SpliceContract[]
  readonly issuing: readonly SpliceContract[]
}

/** Holdings of owners at a time. */
export type SpliceHoldings = {
  /** Record time of the snapshot; ISO-8601 UTC. */
  readonly recordTime: string
  readonly migrationId: number
  readonly computedAsOfRound: number
  /** One row for each owner, in order of the parties. Amounts are decimal texts. */
  readonly summaries: readonly (JsonObject & { readonly partyId: string })[]
}

/** One coin activity, without `offset`, which differs between scans. */
export type SpliceActivity = JsonObject & {
  readonly eventId: string
  readonly activityType: string
  /** ISO-8601 UTC. */
  readonly date: string
}

const KIB = 1024
/** Fifty times the answer of a network with thirteen super-validators. */
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
  // Contracts without a synchronizer.
  (body) => readAll(body['rounds'], (contract) => readContract({ contract }))?.sort(byRound),
)

/** A request for holdings. */
export type HoldingsRequest = {
  readonly migrationId: number
  /** ISO-8601 UTC. */
  readonly recordTime: string
  /** `exact` (default): the snapshot of exactly this time. `at_or_before`: the newest snapshot that is not younger. */
  readonly recordTimeMatch?: 'exact' | 'at_or_before'
  readonly ownerPartyIds: readonly string[]
  /** The round for the fees. Pass it, since lagging scans use an older one by default. */
  readonly asOfRound?: number
}

/** @throws {QuorumscanError} INVALID_ARGUMENT. */
export function askHoldings(request: HoldingsRequest): Question<SpliceHoldings> {
  assertOptions<HoldingsRequest>('the request for holdings', request, {
    migrationId: isWhole(0),
    recordTime: isText,
    recordTimeMatch: isOneOf(['exact', 'at_or_before']),
    ownerPartyIds: anything,
    asOfRound: isWhole(0),
  })
  assertTexts('`ownerPartyIds`', request.ownerPartyIds)
  for (const name of ['migrationId', 'recordTime'] as const)
    if (request[name] === undefined) throw invalidArgument(`\`${name}\` is missing.`)
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
  // Upstream ignores the order. Nodes of this project need `desc` to begin with the newest.
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

/** A contract with its synchronizer. */
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
    ? (renameMembers(row) as SpliceHoldings['summaries'][number])
    : undefined
}

function readActivity(row: JsonValue): SpliceActivity | undefined {
  const { offset: _, ...shared } = membersOf(row)
  const isOne = ['event_id', 'activity_type', 'date'].every(
    (name) => text(shared[name]) !== undefined,
  )
  return isOne ? (renameMembers(shared) as SpliceActivity) : undefined
}

function count(value: JsonValue | undefined): number | undefined {
  return Number.isSafeInteger(value) ? (value as number) : undefined
}

/** null if it is missing; undefined if it is not a text. */
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

/** Round numbers are texts of digits, so that they are padded to sort by value. */
const byRound = by<SpliceContract>(({ payload, contractId }) => {
  const round = payload['round']
  const number = isObject(round) ? String(round['number']) : ''
  return `${number.padStart(20, '0')} ${contractId}`
})
