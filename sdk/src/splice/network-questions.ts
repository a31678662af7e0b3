/** Questions about the network itself, of which only what is equal on all its scans is told. */
import { activitiesBytesMax } from '@quorumscan/reader'
import { toCamel } from '../platform/camel.ts'
import { type ContractId, isContractId } from '../platform/contract-id.ts'
import { isObject, type JsonObject, type JsonValue } from './exact-json.ts'
import { get, post, type Question } from './question.ts'

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

export const askDso: Question<SpliceDso> = {
  ...get('/v0/dso', 'the operator', DSO_BYTES_MAX),
  read(body) {
    if (!isObject(body)) return undefined
    const dso = {
      dsoPartyId: body['dso_party_id'],
      votingThreshold: body['voting_threshold'],
      latestMiningRound: readContract(body['latest_mining_round']),
      amuletRules: readContract(body['amulet_rules']),
      dsoRules: readContract(body['dso_rules']),
      svNodeStates: readAll(body['sv_node_states'], readContract)?.sort(byContractId),
      initialRound: body['initial_round'] ?? null,
    }
    const isOne =
      typeof dso.dsoPartyId === 'string' &&
      Number.isSafeInteger(dso.votingThreshold) &&
      (dso.initialRound === null || typeof dso.initialRound === 'string')
    return isOne && Object.values(dso).every((part) => part !== undefined)
      ? (dso as SpliceDso)
      : undefined
  },
}

export const askScans: Question<readonly SpliceScans[]> = {
  ...get('/v0/scans', 'the addresses of the scans', SCANS_BYTES_MAX),
  read(body) {
    const domains = isObject(body) ? body['scans'] : undefined
    return readAll(domains, (domain) => {
      if (!isObject(domain) || typeof domain['domainId'] !== 'string') return undefined
      const { domainId } = domain
      const scans = readAll(domain['scans'], readScan)
      return (
        scans && {
          domainId,
          scans: scans.sort(by(({ svName, publicUrl }) => `${svName} ${publicUrl}`)),
        }
      )
    })?.sort(by(({ domainId }) => domainId))
  },
}

export const askAnsRules: Question<SpliceContract> = {
  ...post('/v0/ans-rules', 'the rules of names', CONTRACTS_BYTES_MAX),
  body: {},
  read: (body) => (isObject(body) ? readContract(body['ans_rules_update']) : undefined),
}

export const askRounds: Question<SpliceRounds> = {
  ...post('/v0/open-and-issuing-mining-rounds', 'the rounds', CONTRACTS_BYTES_MAX),
  body: { cached_open_mining_round_contract_ids: [], cached_issuing_round_contract_ids: [] },
  read(body) {
    if (!isObject(body)) return undefined
    const open = readRounds(body['open_mining_rounds'])
    const issuing = readRounds(body['issuing_mining_rounds'])
    return open && issuing && { open, issuing }
  },
}

export const askClosedRounds: Question<readonly SpliceContract[]> = {
  ...get('/v0/closed-rounds', 'the closed rounds', CONTRACTS_BYTES_MAX),
  read(body) {
    const rounds = isObject(body) ? body['rounds'] : undefined
    // Contracts without their synchronizer.
    return readAll(rounds, (contract) => readContract({ contract }))?.sort(byRound)
  },
}

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
  return {
    ...post('/v0/holdings/summary', 'the holdings', ownerPartyIds.length * KIB + 4 * KIB),
    body: {
      migration_id: migrationId,
      record_time: recordTime,
      record_time_match: recordTimeMatch,
      owner_party_ids: ownerPartyIds,
      ...(asOfRound === undefined ? {} : { as_of_round: asOfRound }),
    },
    read(body) {
      if (!isObject(body)) return undefined
      const { record_time: at, migration_id: migration, computed_as_of_round: round } = body
      if (typeof at !== 'string' || !isCount(migration) || !isCount(round)) return undefined
      const summaries = readAll(body['summaries'], readSummary)?.sort(by(({ partyId }) => partyId))
      return (
        summaries && { recordTime: at, migrationId: migration, computedAsOfRound: round, summaries }
      )
    },
  }
}

export function askActivities(page: {
  readonly pageSize: number
  readonly after: string | null
}): Question<readonly SpliceActivity[]> {
  const { pageSize, after } = page
  return {
    ...post('/v0/activities', 'the activities', activitiesBytesMax(pageSize)),
    // Upstream knows one order, and ignores this; our nodes begin with the oldest unless told.
    body: {
      page_size: pageSize,
      sort_order: 'desc',
      ...(after === null ? {} : { begin_after_id: after }),
    },
    read(body) {
      const rows = isObject(body) ? body['activities'] : undefined
      const activities = readAll(rows, readActivity)
      return activities && activities.length <= pageSize ? activities : undefined
    },
  }
}

/** undefined if it is no list, or any in it is none. */
function readAll<T>(
  values: JsonValue | undefined,
  read: (value: JsonValue) => T | undefined,
): T[] | undefined {
  if (!Array.isArray(values)) return undefined
  const all: T[] = []
  for (const value of values) {
    const one = read(value)
    if (one === undefined) return undefined
    all.push(one)
  }
  return all
}

/** With the synchronizer beside it. */
export function readContract(value: JsonValue | undefined): SpliceContract | undefined {
  const contract = isObject(value) ? value['contract'] : undefined
  if (!isObject(value) || !isObject(contract) || !isObject(contract['payload'])) return undefined
  const { template_id, contract_id, payload, created_event_blob, created_at } = contract
  const domainId = value['domain_id'] ?? null
  if (typeof template_id !== 'string' || !isContractId(contract_id)) return undefined
  if (typeof created_event_blob !== 'string' || typeof created_at !== 'string') return undefined
  if (domainId !== null && typeof domainId !== 'string') return undefined
  return {
    templateId: template_id,
    contractId: contract_id,
    payload,
    createdEventBlob: created_event_blob,
    createdAt: created_at,
    domainId,
  }
}

function readRounds(value: JsonValue | undefined): SpliceContract[] | undefined {
  if (!isObject(value)) return undefined
  const rounds = readAll(Object.values(value), readContract)
  const isKeyed = rounds?.every(({ contractId }) => Object.hasOwn(value, contractId))
  return isKeyed === true ? rounds?.sort(byRound) : undefined
}

function readScan(scan: JsonValue): SpliceScans['scans'][number] | undefined {
  if (!isObject(scan)) return undefined
  const { svName, publicUrl } = scan
  return typeof svName === 'string' && typeof publicUrl === 'string'
    ? { svName, publicUrl }
    : undefined
}

function readSummary(row: JsonValue): SpliceHoldings['summaries'][number] | undefined {
  return isObject(row) && typeof row['party_id'] === 'string'
    ? (toCamel(row) as SpliceHoldings['summaries'][number])
    : undefined
}

function readActivity(row: JsonValue): SpliceActivity | undefined {
  if (!isObject(row) || typeof row['event_id'] !== 'string') return undefined
  if (typeof row['activity_type'] !== 'string' || typeof row['date'] !== 'string') return undefined
  const { offset: _, ...shared } = row
  return toCamel(shared) as SpliceActivity
}

function isCount(value: JsonValue | undefined): value is number {
  return Number.isSafeInteger(value)
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
