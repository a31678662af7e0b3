/** The text that represents a party in a user interface. */
import { isParty } from '../platform/party.ts'
import { shortParty } from '../platform/values.ts'
import type { Candidate } from './results.ts'

/** The naming system of the network's own name service (draft of 2026-08-29). */
export const NAME_SERVICE = 'cns'

/** A hint of hexadecimal digits, without letters, or too long to be read, means nothing to a person. */
const UNREADABLE_HINT = /^([0-9a-f]{16,}|[^A-Za-z]*|.{33,})$/
/** Names that were not made by `createResolver`: their text is not checked. */
const HIDDEN = /[\p{C}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]|^[^\p{L}\p{N}]*$|^.{201,}$/u

/**
 * The text for a party, in the order of the draft standard (2026-08-29): a name that leads back to the party, else the
 * hint, else the shortened identifier. The party chose the hint: it identifies no one.
 *
 * @param names - What `reverse` returned for the party. One whose text is blank, very long or invisible in part is
 *   ignored.
 * @returns `icon`: the naming system of the name, for its icon; null without a name.
 * @example displayParty(await resolver.reverse(party), party).text
 */
export function displayParty(
  names: readonly Pick<Candidate, 'party' | 'displayName' | 'resolver'>[],
  party: string,
): {
  readonly text: string
  readonly icon: string | null
  readonly source: 'name' | 'hint' | 'short'
} {
  const named = names.find((each) => each.party === party && !HIDDEN.test(each.displayName))
  if (named !== undefined) return { text: named.displayName, icon: named.resolver, source: 'name' }
  const [hint = ''] = party.split('::')
  return isParty(party) && !UNREADABLE_HINT.test(hint)
    ? { text: hint, icon: null, source: 'hint' }
    : { text: shortParty(party), icon: null, source: 'short' }
}
