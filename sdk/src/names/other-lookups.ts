/** The lookup of one name with all facts, and what lookups of many names share with it. */
import { BATCH_LOOKUPS_MAX, formatInstant, type Lookup } from '@quorumscan/verifier'
import type { CertifiedEntry } from '@quorumscan/verifier/certified'
import type { QuorumscanError } from '../errors.ts'
import type { KnownError } from '../known-errors.ts'
import { isParty } from '../platform/party.ts'
import { hasEnded } from '../platform/times.ts'
import type * as scanExtras from '../scan-extras.ts'
import {
  type Answered,
  type BoundRead,
  type Bounds,
  basisOf,
  invalidOwner,
  isAnswered,
  type LookupSource,
  type ReadOutcome,
  toEntry,
  type Unanswered,
} from './bounded.ts'
import type { LookupFailure, LookupOutcome } from './lookup-outcome.ts'
import type { AnswerFacts, NameChange } from './lookup-types.ts'
import { isName, normalizeName } from './name-rules.ts'
import type { Names } from './names-type.ts'
import type { SeenNames, Sighting } from './seen-names.ts'

export type NamesBase = LookupSource &
  Bounds & {
    /** The change of each name since it was last accepted, in order. `isRemembered`: new names are remembered. */
    changesOf(read: readonly Sighting[], isRemembered: boolean): Promise<(NameChange | null)[]>
    readonly accept: SeenNames['accept']
    /** Loads what belongs to lookups without an answer. */
    readonly extras: () => Promise<typeof scanExtras>
  }

export type Read = ReadOutcome<CertifiedEntry | null>

export type OtherLookups = ReturnType<typeof createOtherLookups>

/** Whether the outcome is an entry of a party. */
function hasOwner(outcome: Read): outcome is Answered<CertifiedEntry> {
  return isAnswered(outcome) && isParty(outcome.answer?.user)
}

export function createOtherLookups(base: NamesBase) {
  const { clock, bounded, changesOf, extras } = base

  /** Outcomes in order, for any number of lookups. Lookups of one request are retried together. */
  const ask = async (lookups: readonly Lookup[], read: BoundRead, pausesMs?: readonly number[]) => {
    const outcomes: Read[] = []
    for (let first = 0; first < lookups.length; first += BATCH_LOOKUPS_MAX) {
      const chunk = lookups.slice(first, first + BATCH_LOOKUPS_MAX)
      const askChunk = () => base.lookup(chunk, read)
      let found = await askChunk()
      if (!found.every(isAnswered)) {
        const { retryLookups } = await extras()
        found = await retryLookups(askChunk, { clock, read, pausesMs, outcomes: found })
      }
      outcomes.push(...found)
    }
    return outcomes
  }

  const errorOf = async (what: string, outcome: Unanswered): Promise<QuorumscanError> =>
    (await extras()).outcomeError(what, outcome)

  /** @throws {QuorumscanError} INVALID_NAME. */
  const nameOf = async (typed: string): Promise<string> =>
    isName(typed) ? normalizeName(typed) : (await extras()).parseName(typed).name

  /**
   * The outcomes for callers, with the change of each name.
   *
   * @param asked - The name or party of each outcome.
   */
  const present = async (
    asked: readonly string[],
    outcomes: readonly Read[],
    wanted: Wanted = {},
  ): Promise<LookupOutcome[]> => {
    const sightings = outcomes.flatMap((outcome) =>
      hasOwner(outcome) ? [{ ...toEntry(outcome.answer), atMicros: outcome.recordTime }] : [],
    )
    const changes = await changesOf(sightings, true)
    const presented: LookupOutcome[] = []
    for (const [index, outcome] of outcomes.entries())
      if (isAnswered(outcome)) {
        // One change for each entry with an owner, in order.
        const changed = hasOwner(outcome) ? (changes.shift() ?? null) : null
        presented.push(await publicAnswer(outcome, changed, wanted, base))
      } else presented.push(failed(await errorOf(asked[index] ?? '', outcome), null))
    return presented
  }

  const lookupWith =
    (pausesMs?: readonly number[]): Names['lookup'] =>
    async (typed, options = {}) => {
      const name = await nameOf(typed)
      const { receipt = true, expectParty = null } = options
      return bounded(`look up ${name}`, options, async (read) => {
        const outcomes = await ask([{ name }], { ...read, isShared: !receipt }, pausesMs)
        const wanted = { hasReceipt: receipt, expectParty }
        const [outcome] = await present([name], outcomes, wanted)
        return outcome as LookupOutcome // One asked, one answered.
      })
    }

  return {
    ask,
    present,
    nameOf,
    errorOf,
    lookup: lookupWith(),
    /** As `lookup`, without repeats while nodes cannot be reached. */
    lookUpOnce: lookupWith([]),
  }
}

/** What the caller of a lookup wants to know. */
type Wanted = { readonly hasReceipt?: boolean; readonly expectParty?: string | null }

/** The outcome for callers. */
async function publicAnswer(
  { answer, recordTime, ...read }: Answered<CertifiedEntry | null>,
  changed: NameChange | null,
  { hasReceipt = false, expectParty = null }: Wanted,
  source: Pick<NamesBase, 'basis' | 'clock' | 'extras'>,
): Promise<LookupOutcome> {
  const { clock, extras } = source
  const { offset, threshold, nodeCount, trust, agreed, dissented, clockSkewMs } = read
  const facts: AnswerFacts = {
    offset,
    recordTime: formatInstant(recordTime),
    threshold,
    nodeCount,
    trust,
    agreed,
    dissented,
    basis: basisOf(source, read),
    clockSkewMs,
    receipt: hasReceipt ? { ...read.receipt, ...(trust && { trust }) } : null,
  }
  if (answer === null) return { ...facts, kind: 'proven', value: null, validUntil: null }
  if (!isParty(answer.user)) return failed(invalidOwner(answer), facts)
  if (hasEnded(answer.expires_at, clock)) return failed((await extras()).nameExpired(answer), facts)
  const value = toEntry(answer)
  if (expectParty !== null && expectParty !== value.party)
    return failed((await extras()).nameMismatch(value, expectParty), facts)
  if (changed !== null) return { ...facts, kind: 'changed', value, previous: changed }
  return { ...facts, kind: 'proven', value, validUntil: value.expiresAt }
}

/** The code of an error of the SDK decides on its details. */
export function failed(error: QuorumscanError, facts: AnswerFacts | null): LookupFailure {
  return { kind: 'failed', error: error as KnownError, facts }
}
