/** Looking names up: one interface, whether the nodes themselves are asked or a validator's scan proxy. */
import type { CertifiedEntry } from '@quorumscan/verifier/certified'
import { hasEnded } from '../platform/clock.ts'
import { lazily } from '../platform/load-part.ts'
import type { ReadOutcome, ReadsOptions } from './bounded.ts'
import { LOOKUPS } from './methods.ts'
import { isName, normalizeName } from './name-rules.ts'
import type { Names } from './names-type.ts'
import type { NamesBase, OtherLookups } from './other-lookups.ts'
import type { Reads } from './reads.ts'
import { createSeenNames } from './seen-names.ts'

type Read = ReadOutcome<CertifiedEntry | null>

export function createNames(
  reads: Reads,
  options: Pick<ReadsOptions, 'seenNamesMax' | 'onChanged'>,
): Names {
  const { clock, extras, bounded } = reads
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
      const { user: party, expires_at: expiresAt } = outcome.answer
      if (hasEnded(expiresAt, clock)) throw (await extras()).nameExpired(outcome.answer)
      const [changed] = await changesOf([{ name, party, atMicros: outcome.recordTime }], true)
      return { party, changed }
    })
    if (changed) await (await extras()).requireAccepted(changed, lookup.acceptChange, seen.accept)
    return party
  }

  let others: OtherLookups | undefined
  const more = async (): Promise<OtherLookups> => {
    const { createOtherLookups } = await extras()
    others ??= createOtherLookups({ ...reads, changesOf, accept: seen.accept })
    return others
  }

  return { ...lazily(more, LOOKUPS), resolve }
}
