/** Reports that the owner of a name has changed since the name was last accepted. */
import { formatInstant, parseInstant } from '@quorumscan/verifier'
import { failure, type QuorumscanError } from '../errors.ts'
import type { NameChange, ResolveOptions } from './lookup-types.ts'
import type { ReadsOptions } from './reads-options.ts'
import type { SeenName, SeenNames, Sighting } from './seen-names.ts'

/** The party of each name that a client has reported last. It has at most as many names as are remembered. */
const reported = new WeakMap<object, Map<string, string>>()

/**
 * The change of each name, in order; null: the owner is the same, or the name was not known.
 *
 * @param options - Of the client. `onChanged` is called once for each name and party.
 */
export function nameChanges(
  before: readonly (SeenName | null)[],
  read: readonly Sighting[],
  options: Pick<ReadsOptions, 'onChanged'>,
): (NameChange | null)[] {
  return read.map(({ name, party, atMicros }, index) => {
    const previous = before[index]
    if (!previous) return null
    const change = {
      name,
      previousParty: previous.party,
      previousSeenAt: formatInstant(previous.atMicros),
      party,
      seenAt: formatInstant(atMicros),
    }
    const parties = reported.get(options) ?? new Map<string, string>()
    if (parties.get(name) !== party) options.onChanged?.(change)
    reported.set(options, parties.set(name, party))
    return change
  })
}

/** A change of owner of a name that is not remembered could not be detected. */
export function seenNamesFull(max: number): QuorumscanError {
  const message = `This client remembers ${max} names, as many as \`seenNamesMax\` allows: it could not detect a change of owner of another name. Raise \`seenNamesMax\`, or pass 0 to remember no names.`
  return failure('SEEN_NAMES_FULL', message)
}

/**
 * Returns once the change is accepted, permanently.
 *
 * @throws {QuorumscanError} NAME_CHANGED if it is not.
 */
export async function requireAccepted(
  change: NameChange,
  isAccepted: ResolveOptions['acceptChange'],
  accept: SeenNames['accept'],
): Promise<void> {
  const { name, party } = change
  if ((await isAccepted?.(change)) === true)
    return accept({ name, party, atMicros: parseInstant(change.seenAt) ?? 0 })
  const message = `${name} belongs to ${party} now. Its owner was ${change.previousParty}, as of ${change.previousSeenAt}: ask the user, then pass \`acceptChange\`.`
  throw failure('NAME_CHANGED', message, { details: change })
}
