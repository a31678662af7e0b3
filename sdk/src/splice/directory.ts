/** Who the super-validators are, and where their scans answer: read by votes, like everything else. */
import { isAuthenticated, parseNodeUrl } from '@quorumscan/reader'
import { maxFaulty } from '@quorumscan/verifier'
import { passing } from '../errors.ts'
import { type JsonValue, membersOf, readAll, text, whole } from './exact-json.ts'
import { askDso, askScans, readContract, sortNames } from './network-questions.ts'
import { decided } from './outcome.ts'
import { type Electorate, type Question, type ReadContext, readByVotes } from './question.ts'

/** A scan, as upstream's list of them writes it. */
export type SpliceScanAddress = {
  /** The name of the super-validator on the ledger. Whatever has the same name counts once. */
  readonly svName: string
  /** https, or this machine; `/api/scan` is added where it does not end so. */
  readonly publicUrl: string
}

/** Where to begin. */
export type Origin = {
  readonly scans: readonly SpliceScanAddress[]
  /** Whether these are the scans to ask; else they tell which are. */
  readonly areScansAll: boolean
  /** n is never taken to be smaller; null: not said. */
  readonly svCount: number | null
}

type Member = { readonly name: string; readonly party: string }

/** A longer list is that of a lying seed, which would have us ask thousands: the main network has thirteen members. */
const MEMBERS_MAX = 200
/** Of the name of a super-validator. */
const SV_NAME_LENGTH_MAX = 255

/** The member list alone, so that rounds and contracts, in which scans that lag differ, do not matter to it. */
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
 * The electorate to read with, and whom the configured scans say its members to be.
 *
 * Seeds that are asked for the others are believed as that many nodes of which f may lie; what they agree on is
 * confirmed by f+1 of the members that they name.
 *
 * @throws {QuorumscanError} If too few agree on it, or scans of too few members are known.
 */
export async function openElectorate(
  origin: Origin,
  context: Omit<ReadContext, 'threshold'>,
): Promise<Electorate> {
  const { scans, areScansAll, svCount } = origin
  const names = new Set(scans.map(({ svName }) => svName))
  const voters = votersOf(scans, names)
  if (areScansAll && svCount !== null)
    return withEnough({ nodeCount: Math.max(names.size, svCount), voters })
  const first = await learn({ nodeCount: names.size, voters }, origin, context)
  return learn(first, origin, context)
}

/**
 * What an electorate says of who its members are, and where.
 *
 * @throws {QuorumscanError} As `openElectorate`.
 */
export async function learn(
  from: Electorate,
  origin: Origin,
  context: Omit<ReadContext, 'threshold'>,
): Promise<Electorate> {
  const read = async <T extends JsonValue>(question: Question<T>): Promise<T> => {
    const outcome = await readByVotes(question, from, { ...context, threshold: 'f+1' })
    const { value } = decided(question.what, outcome)
    if (value === null) throw new TypeError('a question without absence')
    return value
  }
  const [members, scans] = await Promise.all([
    read(askMembers),
    origin.areScansAll ? origin.scans : read(askScans).then((lists) => reachable(lists, origin)),
  ])
  const names = new Set(members.map(({ name }) => name))
  const nodeCount = Math.max(names.size, origin.svCount ?? 0)
  return withEnough({ nodeCount, voters: votersOf(scans, names) })
}

/** Of addresses that strangers listed those that are safe to call; private ones where all seeds are. */
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

/** Below 2f+1, f that fail could keep the others from ever agreeing. */
function withEnough(electorate: Electorate): Electorate {
  const { nodeCount, voters } = electorate
  const neededCount = 2 * maxFaulty(nodeCount) + 1
  if (voters.length >= neededCount) return electorate
  throw passing(
    'NOT_ENOUGH_NODES',
    `Scans of ${voters.length} of ${nodeCount} super-validators are known, ${neededCount} are needed.`,
  )
}

/**
 * The address that requests go to, without trailing slash.
 *
 * @returns undefined unless it is a URL whose answers nobody on the way can write: https, or this machine; and,
 *   where `isPrivateAllowed` is false, no private address.
 */
export function parseScanUrl(text: string, isPrivateAllowed: boolean): string | undefined {
  const url = parseNodeUrl(text, isPrivateAllowed)
  if (url === undefined || !isAuthenticated(url)) return undefined
  return url.endsWith('/api/scan') ? url : `${url}/api/scan`
}

/** Each member once, and each address for one member only: a scan is one voice. */
function votersOf(
  scans: readonly SpliceScanAddress[],
  names: ReadonlySet<string>,
): Electorate['voters'] {
  const urlsByName = new Map<string, string[]>()
  const taken = new Set<string>()
  for (const { svName, publicUrl } of scans) {
    const url = parseScanUrl(publicUrl, true)
    if (url === undefined || taken.has(url) || !names.has(svName)) continue
    taken.add(url)
    urlsByName.set(svName, [...(urlsByName.get(svName) ?? []), url])
  }
  return [...urlsByName].map(([svName, urls]) => ({ svName, urls }))
}
