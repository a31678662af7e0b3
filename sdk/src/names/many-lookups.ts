/** The lookups of many names, and by party. Loaded with the first of them. */
import { isQuorumscanError } from '../errors.ts'
import { assertTexts } from '../platform/arguments.ts'
import { parseParty } from '../platform/parse-party.ts'
import { isParty } from '../platform/party.ts'
import { type BoundRead, isAnswered, type Unanswered } from './bounded.ts'
import type { LookupFailure, LookupOutcome } from './lookup-outcome.ts'
import { isName, normalizeName } from './name-rules.ts'
import type { Names } from './names-type.ts'
import { failed, type NamesBase, type OtherLookups, type Read } from './other-lookups.ts'
import { toFound } from './reading.ts'

/** The lookups of this part. */
export type ManyLookups = Pick<Names, 'reverse' | 'resolveMany' | 'reverseMany' | 'acceptChange'>

export function createManyLookups(base: NamesBase, own: OtherLookups): ManyLookups {
  const { clock, bounded, extras } = base
  const { ask, present, nameOf, errorOf } = own

  /** Looks up the names of parties, and then their owners. A name that resolves to another party counts as absent. */
  const askReverse = async (parties: readonly string[], read: BoundRead): Promise<Read[]> => {
    const reversed = parties.map((party) => ({ party }))
    const found = await ask(reversed, read)
    const entries = found.flatMap((outcome) => (isAnswered(outcome) && outcome.answer) || [])
    const offsets = found.map((outcome) => (isAnswered(outcome) ? outcome.offset : 0))
    const minOffset = Math.max(read.minOffset ?? 0, ...offsets)
    const lookups = entries.map(({ name }) => ({ name }))
    const forward = await ask(lookups, { ...read, minOffset })
    return found.map((outcome, index) => {
      if (!isAnswered(outcome) || outcome.answer === null) return outcome
      const back = forward.shift() as Read // One for each entry.
      if (!isAnswered(back) || back.answer?.user === parties[index]) return back
      const kind = back.kind.startsWith('trusted') ? 'trusted-absent' : 'verified-absent'
      return { ...back, kind, answer: null }
    })
  }

  const reverse: Names['reverse'] = async (typed, lookup = {}) => {
    const party = parseParty(typed)
    return bounded(`reverse ${party}`, lookup, async (read) => {
      const outcomes = await askReverse([party], read)
      const [first] = outcomes
      if (first === undefined || !isAnswered(first)) throw await errorOf(party, first as Unanswered)
      const [found] = await present([party], outcomes)
      if (found === undefined) return null
      if (found.kind !== 'failed') return found.value && toFound(found.value, found)
      // An entry that has expired represents no party.
      if (found.error.code === 'NAME_EXPIRED') return null
      throw found.error
    })
  }
  return {
    reverse,
    async resolveMany(typed, lookup = {}) {
      assertTexts('`names`', typed)
      return bounded(`resolve ${typed.length} names`, lookup, async (read) => {
        const names = typed.filter(isName).map(normalizeName)
        const asked = names.map((name) => ({ name }))
        const outcomes = await present(names, await ask(asked, read))
        const all: LookupOutcome[] = []
        for (const name of typed) {
          const error = isName(name) ? null : (await extras()).refusalOfName(name)
          // One outcome for each text that can be a name, in order.
          all.push(error ? failed(error, null) : (outcomes.shift() as LookupOutcome))
        }
        return all
      })
    },
    async reverseMany(typed, lookup = {}) {
      assertTexts('`parties`', typed)
      const parties = typed.map((party) => party.trim())
      return bounded(`reverse ${parties.length} parties`, lookup, async (read) => {
        const asked = parties.filter(isParty)
        const outcomes = await present(asked, await askReverse(asked, read))
        // One outcome for each text that can be a party, in order.
        return parties.map((party) => refusalOfParty(party) ?? (outcomes.shift() as LookupOutcome))
      })
    },
    acceptChange: async (typed, party) =>
      base.accept({
        name: await nameOf(typed),
        party: parseParty(party),
        atMicros: clock.nowMicros(),
      }),
  }
}

/** null: it can be one. */
function refusalOfParty(party: string): LookupFailure | null {
  try {
    parseParty(party)
    return null
  } catch (error) {
    if (!isQuorumscanError(error)) throw error
    return failed(error, null)
  }
}
