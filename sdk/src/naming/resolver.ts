/**
 * Resolves what a person typed (a name, a qualified name or a party) over several naming systems.
 *
 * All resolvers that can have the name are asked at once. Answers weaker than `minBasis` are never used. Of one naming
 * system the first resolver that answers wins, unless the answer of another one conflicts (`disputed`); an unqualified
 * name that two naming systems have for different parties is `ambiguous`. The draft standard (2026-08-29) takes the first
 * success; the two outcomes are ours, because a payment cannot be undone.
 */

import { isQualified, type NetworkName, PARTY_ID } from '@quorumscan/verifier'
import { failure, invalidArgument, type QuorumscanError } from '../errors.ts'
import type { KnownError } from '../known-errors.ts'
import type { Basis } from '../names/lookup-types.ts'
import { systemClock } from '../platform/clock.ts'
import { READ_TIMEOUT_MS } from '../platform/deadline.ts'
import { judgeOf } from '../platform/judged.ts'
import { lazily, loadPart } from '../platform/load-part.ts'
import { anything, assertOptions, isClock, isMs, isOneOf, isText } from '../platform/options.ts'
import { isParty, type Party } from '../platform/party.ts'
import { shownValue } from '../platform/shown-value.ts'
import { hasEnded } from '../platform/times.ts'
import { shortParty } from '../platform/values.ts'
import { formatFqpn, invalidName, isFqpn, isSystem, parseFqpn } from './fqpn.ts'
import {
  asError,
  type PartyResolver,
  type ResolverAnswer,
  type ResolverRead,
} from './party-resolver.ts'
import type { NoParty } from './resolution-error.ts'
import type { ResolveCall, Resolver, ResolverOptions } from './resolver-type.ts'
import {
  type Candidate,
  isAtLeast,
  type Resolution,
  type ResolverFailure,
  STRENGTHS,
} from './results.ts'

/** What supports an answer, also that there is no such name. */
type Support = { readonly basis: Basis; readonly recordTime?: string | null }

/** What one naming system has for a name, after all its resolvers answered. */
type Finding = {
  /** `claimed`: every answer is weaker than `minBasis`. */
  readonly kind: 'found' | 'absent' | 'claimed' | 'disputed' | 'failed'
  readonly candidates: readonly Candidate[]
  /** Whether an answer that counts has ended. */
  readonly isOver: boolean
  /** The answers that count. */
  readonly counted: readonly Support[]
  /** Failures of resolvers whose answers would not count. */
  readonly failed?: readonly ResolverFailure[]
}

/**
 * @example
 * const resolver = createResolver({ network: 'mainnet', resolvers: [scanNames(scan, { id: 'cns' })] })
 * const { party } = await resolver.resolve('mainnet:cns:alice.unverified.ns')
 * @throws {QuorumscanError} INVALID_ARGUMENT if an option is invalid.
 */
export function createResolver(options: ResolverOptions): Resolver {
  assertOptions('createResolver', options, {
    network: isText,
    resolvers: anything,
    minBasis: isOneOf(STRENGTHS),
    timeoutMs: isMs,
    clock: isClock,
  })
  const { network, resolvers, minBasis = 'proxy', clock = systemClock } = options
  const isValid = ({ id }: PartyResolver) => isSystem(network, id) && id !== PARTY_ID
  if (!isSystem(network, PARTY_ID))
    throw invalidArgument(
      `\`network\` must be mainnet, testnet, devnet or localnet, not ${shownValue(network)}.`,
    )
  if (!Array.isArray(resolvers))
    throw invalidArgument(`\`resolvers\` must be an array, not ${shownValue(resolvers)}.`)
  const invalid = resolvers.find((one: PartyResolver) => !isValid(one))
  if (invalid !== undefined)
    throw invalidArgument(
      `The id of a resolver must be a naming system such as cns, not ${shownValue(invalid.id)}; ${PARTY_ID} is built in.`,
    )

  const isCounted = ({ basis }: { readonly basis: Basis }) => isAtLeast(basis, minBasis)
  const isEnded = ({ validUntil, clockSkewMs, isExpired }: Partial<ResolverAnswer>) =>
    isExpired === true || hasEnded(validUntil ?? null, clock, clockSkewMs)
  const candidateOf = async (
    resolver: string,
    basis: Basis,
    answer: ResolverAnswer,
  ): Promise<Candidate> => {
    const { name, isExpired: _, clockSkewMs = null, recordTime = null, ...facts } = answer
    const fqpn = formatFqpn({ network, resolver, name })
    const displayName = await shownNameOf(answer)
    return { ...facts, clockSkewMs, recordTime, displayName, fqpn, resolver, basis }
  }
  const readOf = ({ signal, timeoutMs = options.timeoutMs }: ResolveCall): ResolverRead => {
    signal?.throwIfAborted()
    return { timeoutMs: timeoutMs ?? READ_TIMEOUT_MS, signal, network }
  }

  /** Asks the resolvers of one naming system, all at once. */
  const find = async (
    among: readonly PartyResolver[],
    name: string,
    read: ResolverRead,
    failures: ResolverFailure[],
  ): Promise<Finding> => {
    const settled = await Promise.allSettled(among.map((one) => answerOf(one, name, read)))
    read.signal?.throwIfAborted()
    const failed: ResolverFailure[] = []
    const answers = settled.flatMap((one, index) => {
      const source = among[index] as PartyResolver // One asked, one settled.
      if (one.status === 'fulfilled') return [one.value]
      const failure = {
        resolver: source.id,
        error: asError(one.reason, `The resolver ${source.id}`),
      }
      if (isCounted(source)) failures.push(failure)
      else failed.push(failure)
      return []
    })
    const candidates = await Promise.all(
      answers.flatMap(({ basis, found }) =>
        found === null ? [] : [candidateOf((among[0] as PartyResolver).id, basis, found)],
      ),
    )
    const counted = answers.filter(isCounted)
    const isOver = counted.some(({ found }) => found !== null && isEnded(found))
    const parties = new Set(counted.map(({ found }) => found?.party ?? null))
    if (parties.size > 1) return { kind: 'disputed', candidates, isOver, counted }
    if (parties.size === 1)
      return { kind: parties.has(null) ? 'absent' : 'found', candidates, isOver, counted }
    if (among.some(isCounted)) return { kind: 'failed', candidates, isOver, counted }
    return { kind: 'claimed', candidates, isOver, counted, failed }
  }

  const resolve: Resolver['resolve'] = async (typed, call = {}) => {
    const read = readOf(call)
    const input = await inputOf(typed, network)
    if (input instanceof Error) return failed(input)
    if ('party' in input) return ofParty(input.party, network)
    const among = resolvers.filter((one: PartyResolver) =>
      input.resolver === null ? one.accepts(input.name) : one.id === input.resolver,
    )
    if (among.length === 0)
      return failed(
        (input.resolver === null ? await refusalOf(input.name) : null) ??
          invalidName(typed, `No resolver has names of ${input.resolver ?? 'this form'}`),
      )

    const failures: ResolverFailure[] = []
    const ids = [...new Set(among.map(({ id }) => id))]
    const systems = ids.map((id) => among.filter((one) => one.id === id))
    const findings = await Promise.all(systems.map((one) => find(one, input.name, read, failures)))
    const candidates = findings.flatMap((finding) => finding.candidates)
    const support = supportOf(findings.flatMap(({ counted }) => counted))
    const answers = { candidates, failures }
    const ending = async (kind: NoParty) => {
      const { resolutionError } = await loadPart(() => import('./resolution-error.ts'))
      return failed(resolutionError(kind, answers), answers)
    }
    const usable = candidates.filter(isCounted)
    const invalid = failures.find(({ error }) => error.code === 'INVALID_NAME')
    if (invalid !== undefined && usable.length === 0) return failed(invalid.error, { failures })
    if (findings.some(({ kind }) => kind === 'disputed')) return ending('disputed')
    // A naming system without an answer may have the unqualified name, for another party.
    if (findings.some(({ kind }) => kind === 'failed')) return ending('failed')
    if (new Set(usable.map(({ party }) => party)).size > 1) return ending('ambiguous')
    const [best] = usable
    if (best === undefined) {
      if (candidates.length > 0) return ending('claimed')
      // Only an answer that counts proves that the name does not exist.
      if (findings.some(({ kind }) => kind === 'absent'))
        return {
          ...answers,
          ...support,
          kind: 'proven',
          value: null,
          party: null,
          validUntil: null,
        }
      failures.push(...findings.flatMap(({ failed = [] }) => failed))
      return ending(failures.length > 0 ? 'failed' : 'claimed')
    }
    if (findings.some(({ isOver }) => isOver)) return ending('expired')
    const value = usable.find((each) => each.changed !== null) ?? best
    const { changed, party } = value
    if (changed !== null) {
      const { acceptChange } = call
      const isAccepted = acceptChange === true || (await acceptChange?.(changed)) === true
      if (!isAccepted)
        return { ...answers, ...support, kind: 'changed', value, previous: changed, party: null }
      for (const one of among) await one.acceptChange?.(changed.name, party)
    }
    return { ...answers, ...found(best), recordTime: support.recordTime }
  }

  const resolver: Resolver = {
    resolve,
    async *watch(typed, watched = {}) {
      const { watchResolution } = await loadPart(() => import('./watch-resolution.ts'))
      yield* watchResolution({
        ...watched,
        clock,
        resolve: (signal) => resolve(typed, { signal }),
      })
    },
    acceptChange: async (typed, party) => {
      await resolve(typed, { acceptChange: (now) => now.party === party })
    },
    async reverse(typed, call = {}) {
      const { reverseParty } = await loadPart(() => import('./reverse-party.ts'))
      return reverseParty(typed, readOf(call), { resolvers, isCounted, isEnded, candidateOf })
    },
  }
  return lazily(async () => resolver, RESOLVER, judgeOf('resolver'))
}

/** The methods of a resolver, and whether each one yields. */
const RESOLVER = { resolve: false, watch: true, acceptChange: false, reverse: false }

/**
 * The answer of a resolver, which may be one of the application.
 *
 * @throws {QuorumscanError} INVALID_RESPONSE if what it answers is not a party, or has no name of its naming system.
 */
async function answerOf(resolver: PartyResolver, name: string, read: ResolverRead) {
  const answer = await resolver.resolve(name, read)
  const { found } = answer
  if (found === null) return answer
  const { id } = resolver
  if (!isParty(found.party)) throw failure('INVALID_RESPONSE', `${id} answers with no party.`)
  if (isFqpn({ network: read.network, resolver: id, name: found.name })) return answer
  throw failure('INVALID_RESPONSE', `${id} answers with a name that cannot be qualified.`)
}

/** The text to show for an answer: that of others only if it cannot deceive. */
async function shownNameOf({ name, displayName }: ResolverAnswer): Promise<string> {
  if (displayName === name) return name
  const { shownName } = await loadPart(() => import('./shown-name.ts'))
  return shownName(displayName, name)
}

/** Why the text cannot be a name entry; null: it can be one. */
async function refusalOf(text: string) {
  const { refusalOfName } = await loadPart(() => import('../names/parse-name.ts'))
  return refusalOfName(text)
}

/** The parts of what was typed, or why it cannot be a name. */
async function inputOf(typed: string, network: NetworkName) {
  if (typeof typed !== 'string') return invalidArgument('The name to resolve must be a string.')
  const text = typed.trim()
  if (/^[^:]*::[^:]*$/.test(text)) return partyIn(text)
  if (!isQualified(text))
    return text === '' ? invalidName(typed, 'A name is not empty') : { resolver: null, name: text }
  try {
    const { network: named, resolver, name } = parseFqpn(text)
    if (named !== network)
      return invalidName(typed, `This is a name of ${named}, not of ${network}`)
    return resolver === PARTY_ID ? partyIn(name) : { resolver, name }
  } catch (error) {
    return asError(error)
  }
}

/** The party, or why the text is none. */
async function partyIn(text: string) {
  if (isParty(text)) return { party: text }
  try {
    const { parseParty } = await loadPart(() => import('../platform/parse-party.ts'))
    return { party: parseParty(text) }
  } catch (error) {
    return asError(error)
  }
}

/** A party identifier resolves to itself. */
function ofParty(party: Party, network: NetworkName): Resolution {
  const candidate = {
    party,
    fqpn: formatFqpn({ network, resolver: PARTY_ID, name: party }),
    displayName: shortParty(party),
    resolver: PARTY_ID,
    basis: 'proof',
    validUntil: null,
    recordTime: null,
    clockSkewMs: null,
    changed: null,
    receipt: null,
  } as const
  return { candidates: [candidate], failures: [], ...found(candidate) }
}

function found(value: Candidate) {
  const { party, basis, recordTime, validUntil } = value
  return { kind: 'proven', value, party, basis, recordTime, validUntil } as const
}

/** The weakest basis of answers, and the record time of the oldest; null: none has one. */
function supportOf(answers: readonly Support[]) {
  const [recordTime = null] = answers.flatMap((answer) => answer.recordTime ?? []).sort()
  const bases = answers.map(({ basis }) => STRENGTHS.indexOf(basis))
  return { basis: STRENGTHS[Math.min(...bases)] ?? 'proof', recordTime } as const
}

function failed(error: QuorumscanError, answers: Partial<Answers> = {}): Resolution {
  const { candidates = [], failures = [] } = answers
  // The code of an error of the SDK decides on its details.
  return { kind: 'failed', party: null, candidates, failures, error: error as KnownError }
}

type Answers = Pick<Resolution, 'candidates' | 'failures'>
