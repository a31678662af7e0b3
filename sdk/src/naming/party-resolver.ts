/** One naming system behind one interface, and the resolver that reads names from scans. */

import type { CertifiedReceipt } from '@quorumscan/reader/certified'
import type { NetworkName } from '@quorumscan/verifier'
import { applicationFailed, isQuorumscanError, type QuorumscanError } from '../errors.ts'
import type { KnownError } from '../known-errors.ts'
import type { LookupFailure, LookupOutcome } from '../names/lookup-outcome.ts'
import type { AnswerFacts, Basis, NameChange, NameEntry } from '../names/lookup-types.ts'
import { isName } from '../names/name-rules.ts'
import type { Names } from '../names/names-type.ts'
import { assertOptions, isArray, isText } from '../platform/options.ts'
import type { Party } from '../platform/party.ts'
import { decided } from '../splice/decided.ts'
import type { SpliceNames } from '../splice/splice-names.ts'

/** The network and the bounds of one call to a resolver. */
export type ResolverRead = {
  readonly network: NetworkName
  readonly timeoutMs: number
  readonly signal?: AbortSignal | undefined
}

/** The answer of a resolver about one name. */
export type ResolverAnswer = {
  /** As the naming system writes it. */
  readonly name: string
  /** `parseParty` makes one of a text. An answer whose party has another form is a failure of the resolver. */
  readonly party: Party
  readonly displayName: string
  readonly validUntil: string | null
  /** Record time of the state that was read. Default null: its age counts from arrival. */
  readonly recordTime?: string | null
  /** Whether the entry has ended by a time that the resolver has proven, whatever the clock of this device shows. */
  readonly isExpired?: boolean
  /** As in `AnswerFacts`. Default null. */
  readonly clockSkewMs?: number | null
  readonly changed: NameChange | null
  readonly receipt: CertifiedReceipt | null
}

/** One source of one naming system. */
export interface PartyResolver {
  /** The naming system, as in qualified names: `cns`, `dns`, `lei`. */
  readonly id: string
  /** The strongest basis of its answers. */
  readonly basis: Basis
  /** Whether an unqualified text can be a name of the system. */
  accepts(name: string): boolean
  /**
   * `found: null`: the naming system does not have the name. `recordTime`: as in `ResolverAnswer`, also without one.
   *
   * @throws {QuorumscanError} Without an answer (such as NETWORK_ERROR), and INVALID_NAME. Any other error counts as one of
   *   the program: APPLICATION_FAILED.
   */
  resolve(
    name: string,
    read: ResolverRead,
  ): Promise<{
    readonly basis: Basis
    readonly found: ResolverAnswer | null
    readonly recordTime?: string | null
  }>
  /** Names of a party, each of which leads back to the party. Throws as `resolve`. */
  reverse(
    party: Party,
    read: ResolverRead,
  ): Promise<readonly (ResolverAnswer & { readonly basis: Basis })[]>
  /** Stores that the user accepted a change of owner; absent if the resolver detects no changes. */
  acceptChange?(name: string, party: Party): Promise<void>
}

/** Options of all resolvers. */
export type PartyResolverOptions = {
  /** The naming system, as in qualified names. */
  readonly id: string
  /** The resolver is not asked for unqualified texts that match one of these. */
  readonly skip?: readonly RegExp[]
}

/** The checks of `PartyResolverOptions`. `createResolver` checks ids. */
export const RESOLVER_CHECKS = { id: isText, skip: isArray } as const

/**
 * A resolver of name entries. Its answers have the basis `proof` over `createScan` and over a `createValidator` with a
 * genesis, `proxy` over one without, and `votes` over `createSpliceScan`. Where one member or scan decides alone, as with
 * `threshold: 1`, it is `trusted`.
 *
 * @param options.suffix - Appended to a label without a dot, over `createSpliceScan` only: the other two append
 *   `.unverified.ns`.
 * @example scanNames(createScan(network), { id: 'cns' })
 */
export function scanNames(
  source: { readonly names: Names | SpliceNames },
  options: PartyResolverOptions & { readonly suffix?: string },
): PartyResolver {
  assertOptions('scanNames', options, { ...RESOLVER_CHECKS, suffix: isText })
  const { names } = source
  const own = 'acceptChange' in names ? certified(names) : voted(names, options.suffix ?? '')
  const accepts = (name: string) => own.accepts(name) && !isSkipped(name, options)
  return { ...own, id: options.id, accepts }
}

export function isSkipped(name: string, { skip = [] }: PartyResolverOptions): boolean {
  return skip.some((pattern) => name.search(pattern) >= 0)
}

function certified(names: Names): Omit<PartyResolver, 'id'> {
  return {
    basis: 'proof',
    accepts: isName,
    async resolve(name, read) {
      const outcome = await names.lookup(name, boundsOf(read))
      const { basis, recordTime, clockSkewMs, receipt } = factsOf(outcome)
      const isExpired = outcome.kind === 'failed'
      const entry = isExpired ? expiredEntry(outcome.error) : outcome.value
      const changed = outcome.kind === 'changed' ? outcome.previous : null
      const more = { recordTime, isExpired, clockSkewMs, changed, receipt }
      return { basis, recordTime, found: entry && { ...toAnswer(entry), ...more } }
    },
    async reverse(party, read) {
      const [outcome] = await names.reverseMany([party], boundsOf(read))
      if (outcome === undefined) return []
      if (outcome.kind === 'failed' && outcome.error.code !== 'NAME_EXPIRED') throw outcome.error
      if (outcome.kind === 'failed' || outcome.value === null) return []
      const { basis, clockSkewMs, recordTime } = outcome
      const changed = outcome.kind === 'changed' ? outcome.previous : null
      return [{ ...toAnswer(outcome.value), changed, basis, clockSkewMs, recordTime }]
    },
    acceptChange: (name, party) => names.acceptChange(name, party),
  }
}

function voted(names: SpliceNames, suffix: string): Omit<PartyResolver, 'id'> {
  const complete = (name: string) => (name.includes('.') ? name : name + suffix)
  return {
    basis: 'votes',
    accepts: (name) => /^[\w.-]+\.[\w-]+$/.test(complete(name)),
    async resolve(name, read) {
      const outcome = decided(await names.lookup(complete(name), boundsOf(read)))
      return { basis: outcome.basis, found: outcome.value && toAnswer(outcome.value) }
    },
    async reverse(party, read) {
      const entry = await names.reverse(party, boundsOf(read))
      // Only outcomes have a basis.
      if (entry === null) return []
      const { value, basis } = decided(await names.lookup(entry.name, boundsOf(read)))
      return value?.party === party ? [{ ...toAnswer(value), basis }] : []
    },
  }
}

/** What a read takes of the call to a resolver. */
function boundsOf({ timeoutMs, signal }: ResolverRead) {
  return { timeoutMs, signal }
}

/** @throws {QuorumscanError} Without a proven answer. */
function factsOf(outcome: LookupOutcome): AnswerFacts {
  const facts = outcome.kind === 'failed' ? outcome.facts : outcome
  if (facts !== null) return facts
  throw (outcome as LookupFailure).error
}

/** @throws {QuorumscanError} If the answer did not fail because the entry has ended. */
function expiredEntry(error: KnownError): NameEntry | null {
  if (error.code === 'NAME_EXPIRED') return error.details?.entry ?? null
  throw error
}

function toAnswer({ name, party, expiresAt }: NameEntry): ResolverAnswer {
  return { name, party, displayName: name, validUntil: expiresAt, changed: null, receipt: null }
}

/**
 * An error of a resolver, or of other names that an application passes, as one of the SDK. A retry may succeed.
 *
 * @param what - Which one.
 */
export function asError(error: unknown, what = 'What the application passed'): QuorumscanError {
  if (isQuorumscanError(error)) return error
  return applicationFailed(what, error, { retryable: true })
}
