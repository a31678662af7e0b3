/** What is told where a name belongs to somebody else than when it was last accepted. */
import { formatInstant, parseInstant } from '@quorumscan/verifier'
import { failure, type QuorumscanError } from '../errors.ts'
import type { NameChange, ResolveOptions } from './lookups.ts'
import type { SeenNames, Sighting } from './seen-names.ts'

/** Each in its place; null: it is whose it was, or it was not known. */
export function nameChanges(
  before: readonly (Sighting | null)[],
  read: readonly Sighting[],
): (NameChange | null)[] {
  return read.map(({ name, party, atMicros }, index) => {
    const previous = before[index]
    return previous
      ? {
          name,
          previousParty: previous.party,
          previousSeenAt: formatInstant(previous.atMicros),
          party,
          seenAt: formatInstant(atMicros),
        }
      : null
  })
}

/** A name that is not remembered could change its owner unnoticed. */
export function seenNamesFull(max: number): QuorumscanError {
  return failure(
    'SEEN_NAMES_FULL',
    `This client remembers ${max} names, as many as \`seenNamesMax\` allows: it could not notice that another name changes its owner. Raise \`seenNamesMax\`, or pass 0 to remember no names.`,
  )
}

/**
 * Returns once the change is accepted, for good.
 *
 * @throws {QuorumscanError} NAME_CHANGED if it is not.
 */
export async function settleChange(
  change: NameChange,
  isAccepted: ResolveOptions['acceptChange'],
  accept: SeenNames['accept'],
): Promise<void> {
  const { name, party } = change
  if ((await isAccepted?.(change)) === true)
    return accept({ name, party, atMicros: parseInstant(change.seenAt) ?? 0 })
  throw failure(
    'NAME_CHANGED',
    `${name} belongs to ${party} now. It was ${change.previousParty}, as of ${change.previousSeenAt}: ask the user, then pass \`acceptChange\`.`,
    { details: change },
  )
}
