/**
 * What all reads share: the member list, which has the super-validators with the addresses of their scans, and a deadline
 * for each read. The list is read by votes too, once, and then refreshed.
 */
import { isAuthenticated, machineOf, parseNodeUrl, type Transport } from '@quorumscan/reader'
import {
  isTrusted,
  linkedController,
  maxFaulty,
  type TrustList,
  type TrustRule,
} from '@quorumscan/verifier'
import { failure, transient } from '../errors.ts'
import type { Clock } from '../platform/clock.ts'
import { READ_TIMEOUT_MS, withDeadline } from '../platform/deadline.ts'
import { loadPart } from '../platform/load-part.ts'
import { anything, assertOptions, isMs, isOr, isSignal, isWhole } from '../platform/options.ts'
import { decided } from './decided.ts'
import { type JsonValue, membersOf, readAll, text, whole } from './exact-json.ts'
import { askDso, askScans, readContract, sortNames } from './network-questions.ts'
import { type MemberList, type Question, type ReadContext, readByVotes } from './question.ts'
import { type SpliceThreshold, votesNeeded } from './splice-decider.ts'

/** The form of a threshold; how many vote is known later. */
export const isSpliceThreshold = isOr(isWhole(1), 'f+1', '2f+1')

/** Bounds of a read. Each overrides the default of the client. */
export type SpliceReadOptions = {
  /** How many answers must be equal. Default `f+1`. */
  readonly threshold?: SpliceThreshold
  /** Timeout of the whole call, in ms. Default 10 000. */
  readonly timeoutMs?: number
  /** Aborts the call, which rejects with the signal's reason. */
  readonly signal?: AbortSignal | undefined
}

/** The checks of `SpliceReadOptions`. A threshold is INVALID_QUORUM, as `checkThreshold` judges it. */
export const READ_CHECKS = { threshold: anything, timeoutMs: isMs, signal: isSignal } as const

export type SpliceReader = ReturnType<typeof createSpliceReader>

/** Members change a few times a year. After this age a list is refreshed concurrently with reads. */
const MEMBER_LIST_AGE_MS = 600_000
/** After this age reads wait for the new list. */
const MEMBER_LIST_AGE_MS_MAX = 1_200_000

export function createSpliceReader(options: {
  readonly origin: Origin
  readonly transport: Transport
  readonly clock: Clock
  readonly defaults: { readonly threshold?: SpliceThreshold; readonly timeoutMs?: number }
  /** Aborts all reads. */
  readonly signal: AbortSignal
}) {
  const { origin, transport, clock, defaults, signal: closing } = options
  const { timeoutMs: defaultMs = READ_TIMEOUT_MS } = defaults
  let current: { readonly list: MemberList; readonly loadedAtMs: number } | null = null
  let loading: Promise<MemberList> | null = null

  const loadNow = async (): Promise<MemberList> => {
    const loadedAtMs = clock.monotonicMs()
    const context = { transport, clock, signal: closing, endsAtMs: loadedAtMs + READ_TIMEOUT_MS }
    try {
      const list = await (current === null
        ? openMemberList(origin, context)
        : readList(current.list, origin, context))
      current = { list, loadedAtMs }
      return list
    } finally {
      loading = null
    }
  }

  const whenLoaded = async (): Promise<MemberList> => {
    const ageMs = current === null ? Infinity : clock.monotonicMs() - current.loadedAtMs
    if (current !== null && (isFixed(origin) || ageMs < MEMBER_LIST_AGE_MS)) return current.list
    loading ??= loadNow()
    if (current === null || ageMs >= MEMBER_LIST_AGE_MS_MAX) return loading
    loading.catch(() => {}) // A read after the greatest age gets the error.
    return current.list
  }

  return {
    async read<T extends JsonValue>(question: Question<T>, asked: SpliceReadOptions) {
      assertOptions<SpliceReadOptions>('this read', asked, READ_CHECKS)
      const { threshold = defaults.threshold ?? 'f+1', timeoutMs = defaultMs } = asked
      const endsAtMs = clock.monotonicMs() + timeoutMs
      closing.throwIfAborted()
      const ending = linkedController(closing, asked.signal)
      const { signal } = ending
      const bound = { clock, timeoutMs, signal, what: `${question.what}: the list of scans` }
      try {
        await checkThreshold(origin, threshold)
        const list = await withDeadline(bound, whenLoaded)
        return await readByVotes(question, list, { transport, clock, threshold, endsAtMs, signal })
      } finally {
        ending.abort()
      }
    },
    /** Several reads within one deadline; `bound` are the options of the next of them. */
    async bounded<T>(
      asked: SpliceReadOptions,
      run: (bound: () => SpliceReadOptions) => Promise<T>,
    ): Promise<T> {
      assertOptions<SpliceReadOptions>('this read', asked, READ_CHECKS)
      const endsAtMs = clock.monotonicMs() + (asked.timeoutMs ?? defaultMs)
      return run(() => ({ ...asked, timeoutMs: Math.max(0, endsAtMs - clock.monotonicMs()) }))
    },
    nowMicros: () => clock.nowMicros(),
    /** null before it is loaded. */
    members: (): MemberList | null => current?.list ?? null,
  }
}

/** A scan, with the member names of upstream's list. */
export type SpliceScanAddress = {
  /** The name of the super-validator on the ledger. Scans with the same name count once. */
  readonly svName: string
  /** https, or this machine. `/api/scan` is added if it is missing. */
  readonly publicUrl: string
}

/** The configured scans. */
type Origin = {
  readonly scans: readonly SpliceScanAddress[]
  /** Whether only these scans are asked; otherwise they list the others. */
  readonly areScansAll: boolean
  /** The least n; null: not configured. */
  readonly svCount: number | null
  /** Only the scans of its members vote. Default: all do. */
  readonly trust: TrustList | undefined
}

/** @throws {QuorumscanError} INVALID_ARGUMENT. */
async function ruleOf(
  { trust }: Origin,
  nodes?: readonly Pick<Member, 'name'>[],
): Promise<TrustRule | null> {
  if (trust === undefined) return null
  const { checkTrust } = await loadPart(() => import('../platform/trust.ts'))
  return checkTrust(trust, nodes)
}

/**
 * As far as it is known before anything is asked: under a trust rule, which votes may be needed.
 *
 * @throws {QuorumscanError} INVALID_QUORUM; INVALID_ARGUMENT.
 */
async function checkThreshold(origin: Origin, threshold: SpliceThreshold): Promise<void> {
  const rule = await ruleOf(origin)
  if (rule !== null) votesNeeded(threshold, rule.members.length, rule)
  if (isSpliceThreshold(threshold) !== null)
    throw failure('INVALID_QUORUM', 'The threshold is f+1, 2f+1 or a whole number, 1 or more.')
}

/** Whether everything is configured, so that no list is read. */
function isFixed({ areScansAll, svCount, trust }: Origin): boolean {
  return areScansAll && (svCount !== null || trust !== undefined)
}

type Member = { readonly name: string; readonly party: string }

/** A longer list comes from a lying seed, and would cause thousands of requests. The main network has thirteen members. */
const MEMBERS_MAX = 200
/** The longest name of a super-validator. */
const SV_NAME_LENGTH_MAX = 255

/** The member list alone, without rounds and contracts, in which lagging scans differ. */
export const askMembers: Question<readonly Member[]> = {
  ...askDso,
  what: 'the super-validators',
  read(body) {
    const rows = readContract(membersOf(body)['dso_rules'])?.payload['svs']
    const members = readAll(rows, readMember)
    if (members === undefined || members.length === 0 || members.length > MEMBERS_MAX)
      return undefined
    return sortNames(members)
  },
}

/** Upstream's map comes as pairs of party and facts, our list as facts with the party. */
function readMember(row: JsonValue): Member | undefined {
  const [party, facts] = Array.isArray(row) ? row : [membersOf(row)['party'], row]
  const name = text(membersOf(facts)['name']) ?? ''
  const isName = name !== '' && name.length <= SV_NAME_LENGTH_MAX
  return whole<Member>({ name: isName ? name : undefined, party: text(party) })
}

/**
 * The member list of the configured scans.
 *
 * Seeds that list the others count as that many nodes, of which f may lie. f+1 of the members that they name confirm the
 * list; under a trust rule, `threshold` of its members.
 *
 * @throws {QuorumscanError} If too few agree on it, or scans of too few members are known; INVALID_ARGUMENT.
 */
async function openMemberList(origin: Origin, context: Omit<ReadContext, 'threshold'>) {
  const scans = await countedScans(origin, context)
  const names = new Set(scans.map(({ svName }) => svName))
  const nodes = scans.map(({ svName }) => ({ name: svName }))
  if (isFixed(origin)) return listOf(names, origin, await ruleOf(origin, nodes), scans)
  const voters = votersOf(scans, names)
  const nodeCount = voters.length
  const basis = basisOf(nodeCount)
  const seeds = { nodeCount, faultyMax: maxFaulty(nodeCount), trust: null, basis, voters }
  return readList(await readList(seeds, origin, context), origin, context)
}

/**
 * The member list on which the members of another list agree.
 *
 * @throws {QuorumscanError} As `openMemberList`.
 */
async function readList(from: MemberList, origin: Origin, context: Omit<ReadContext, 'threshold'>) {
  const read = async <T extends JsonValue>(question: Question<T>): Promise<T> => {
    const outcome = await readByVotes(question, from, { ...context, threshold: 'f+1' })
    const { value } = decided(outcome)
    if (value === null) throw new TypeError('a question without absence')
    return value
  }
  const [members, scans] = await Promise.all([
    read(askMembers),
    origin.areScansAll ? origin.scans : read(askScans).then((lists) => reachable(lists, origin)),
  ])
  const names = new Set(members.map(({ name }) => name))
  // A member that leaves the network later has no vote.
  const list = listOf(names, origin, from.trust ?? (await ruleOf(origin, members)), scans)
  return from.basis === 'trusted' ? { ...list, basis: from.basis } : list
}

/** The configured scans; seeds have the names of their machines, which in Node.js are resolved. */
async function countedScans(
  { scans, areScansAll }: Origin,
  context: Pick<ReadContext, 'clock' | 'signal'>,
) {
  const { process } = globalThis as { readonly process?: { readonly versions?: { node?: string } } }
  if (areScansAll || scans.length === 1 || process?.versions?.node === undefined) return scans
  const { seedMachines } = await loadPart(() => import('./seed-machines.ts'))
  const machines = await seedMachines(
    scans.map(({ publicUrl }) => publicUrl),
    context,
  )
  return scans.map((scan, index) => ({ ...scan, svName: machines[index] ?? scan.svName }))
}

function basisOf(nodeCount: number): MemberList['basis'] {
  return nodeCount === 1 ? 'trusted' : 'votes'
}

/** The listed addresses that are safe to call: public ones, and private ones if all seeds are private. */
function reachable(
  lists: readonly { readonly scans: readonly SpliceScanAddress[] }[],
  { scans }: Origin,
): SpliceScanAddress[] {
  const isPrivateAllowed = scans.every(
    ({ publicUrl }) => parseNodeUrl(publicUrl, false) === undefined,
  )
  return lists
    .flatMap((list) => list.scans)
    .filter(({ publicUrl }) => parseScanUrl(publicUrl, isPrivateAllowed) !== undefined)
}

/** The list of those that vote. With fewer than 2f+1 of all members, f failures could prevent every agreement. */
function listOf(
  names: ReadonlySet<string>,
  { svCount }: Origin,
  trust: TrustRule | null,
  scans: readonly SpliceScanAddress[],
): MemberList {
  const voters = votersOf(scans, names).filter(({ svName }) => isTrusted(trust, svName))
  const nodeCount = trust?.members.length ?? Math.max(names.size, svCount ?? 0)
  const faultyMax = trust === null ? maxFaulty(nodeCount) : trust.threshold - 1
  const neededCount = trust?.threshold ?? 2 * faultyMax + 1
  if (voters.length >= neededCount)
    return { nodeCount, faultyMax, trust, basis: basisOf(nodeCount), voters }
  const message = `Scans of ${voters.length} of ${nodeCount} super-validators are known, ${neededCount} are needed.`
  throw transient('NOT_ENOUGH_NODES', message)
}

/**
 * The address that requests go to, without trailing slash.
 *
 * @returns undefined unless the URL authenticates the scan: https, or this machine; and,
 *   where `isPrivateAllowed` is false, no private address.
 */
export function parseScanUrl(text: string, isPrivateAllowed: boolean): string | undefined {
  const url = parseNodeUrl(text, isPrivateAllowed)
  if (url === undefined || !isAuthenticated(url)) return undefined
  return url.endsWith('/api/scan') ? url : `${url}/api/scan`
}

/**
 * Each member once, and each address for one member only: each scan has one vote. A member keeps all spellings of its
 * address, of which not all need to answer.
 */
function votersOf(scans: readonly SpliceScanAddress[], names: ReadonlySet<string>) {
  const urlsByName = new Map<string, string[]>()
  const ownerOf = new Map<string, string>()
  for (const { svName, publicUrl } of scans) {
    const url = parseScanUrl(publicUrl, true)
    if (url === undefined || !names.has(svName)) continue
    const address = `${machineOf(url)} ${new URL(url).port}${new URL(url).pathname}`
    const owner = ownerOf.get(address) ?? svName
    if (owner !== svName) continue
    ownerOf.set(address, owner)
    urlsByName.set(svName, [...(urlsByName.get(svName) ?? []), url])
  }
  return [...urlsByName].map(([svName, urls]) => ({ svName, urls }))
}
