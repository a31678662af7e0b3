/** Looking names up: one interface, whether the nodes themselves are asked or a validator's scan proxy. */
import type { CertifiedEntry } from '@quorumscan/verifier/certified'
import { lazily, once } from '../platform/load-part.ts'
import { hasEnded } from '../platform/times.ts'
import { ownerOf, type ReadOutcome } from './bounded.ts'
import { isName, normalizeName } from './name-rules.ts'
import type { Names } from './names-type.ts'
import type { NamesBase } from './other-lookups.ts'
import type { Reads } from './reads.ts'
import type { ReadsOptions } from './reads-options.ts'
import { createSeenNames } from './seen-names.ts'

type Read = ReadOutcome<CertifiedEntry | null>

export function createNames(
  reads: Reads,
  options: Pick<ReadsOptions, 'seenNamesMax' | 'onChanged'>,
): Names {
  const { clock, later, bounded } = reads
  const { extras } = later
  const keyOf = () => reads.storeKey('names')
  const seen = createSeenNames(reads.shared, keyOf, { ...options, extras })

  const changesOf: NamesBase['changesOf'] = async (read, isRemembered) => {
    const before = await seen.compare(read, isRemembered)
    if (before.every((each) => each === null)) return before as null[]
    return (await extras()).nameChanges(before, read, options)
  }

  const resolve: Names['resolve'] = async (typed, lookup = {}) => {
    const name = isName(typed) ? normalizeName(typed) : (await extras()).parseName(typed).name
    const { party, changed } = await bounded(`resolve ${name}`, lookup, async (read) => {
      const ask = () => reads.lookup([{ name }], read)
      let outcomes = await ask()
      if (!('answer' in (outcomes[0] as Read)))
        outcomes = await (await extras()).retryLookups(ask, { clock, read, outcomes })
      const outcome = outcomes[0] as Read // One asked, one answered.
      if (!('answer' in outcome)) throw (await extras()).outcomeError(name, outcome)
      if (outcome.answer === null) return { party: null, changed: null }
      const party = ownerOf(outcome.answer)
      if (hasEnded(outcome.answer.expires_at, clock))
        throw (await extras()).nameExpired(outcome.answer)
      const [changed] = await changesOf([{ name, party, atMicros: outcome.recordTime }], true)
      return { party, changed }
    })
    if (changed) await (await extras()).requireAccepted(changed, lookup.acceptChange, seen.accept)
    return party
  }

  const base: NamesBase = { ...reads, extras, changesOf, accept: seen.accept }
  const others = once(async () => {
    const { createOtherLookups } = await later.lookups()
    return createOtherLookups(base)
  })
  const many = once(async () => {
    const [{ createManyLookups }, own] = await Promise.all([later.many(), others()])
    return createManyLookups(base, own)
  })
  const lists = once(async () => {
    const parts = [later.lists(), others(), many()] as const
    const [{ createLists }, ...lookups] = await Promise.all(parts)
    return createLists(base, ...lookups)
  })

  return {
    ...lazily<Pick<Names, 'lookup'>>(others, LOOKUPS, null),
    ...lazily(many, MANY, null),
    ...lazily(lists, LISTS, null),
    resolve,
  }
}

/** The other methods, and whether each one yields. */
const LOOKUPS = { lookup: false }
const MANY = {
  reverse: false,
  resolveMany: false,
  reverseMany: false,
  acceptChange: false,
}
const LISTS = {
  search: true,
  namesOf: true,
  watch: true,
  isAvailable: false,
  metadata: false,
  registryUrls: false,
}
