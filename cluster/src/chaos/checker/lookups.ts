/** Rules: every verified answer is true at its offset, and the reads of a client never go back. */
import type { CertifiedEntry } from '@quorumscan/verifier/certified'
import { type EventOf, eventsOf, type HistoryEvent, type RuleTally, tally } from '../history.ts'
import type { Truth } from './truth.ts'

type Lookup = EventOf<'lookup'>
type Answered = Lookup & { readonly outcome: { readonly kind: 'answered' } }

/** A rule for voted answers, and one for signed and proven ones. */
export const TRUTH_RULES = { voted: 'answers are true', proven: 'proofs are true' }

/** @param how.strongOnly - With more than f nodes faulty, answers of f + 1 nodes may be false. */
export function checkLookups(
  history: readonly HistoryEvent[],
  how: { readonly truth: Truth; readonly strongOnly: boolean },
): RuleTally[] {
  const { truth, strongOnly } = how
  const judged = answeredIn(history).filter(({ read }) => !strongOnly || isStrong(read))
  const isVoted = ({ read }: Lookup) => read === 'weak' || read === 'strong'
  const hasExpired = ({ subject, outcome }: Answered) =>
    'name' in subject && truth.hasExpired(subject.name, outcome.offset)
  const rules: Readonly<Record<string, (answer: Answered) => boolean>> = {
    [TRUTH_RULES.voted]: isVoted,
    [TRUTH_RULES.proven]: (answer) => !isVoted(answer),
    'an expired name has no entry, or a new owner': hasExpired,
  }
  return Object.entries(rules).map(([rule, isOf]) =>
    tally(rule, judged.filter(isOf), (answer) => untruthOf(answer, truth)),
  )
}

function isStrong(read: Lookup['read']): boolean {
  return read.endsWith('strong')
}

function untruthOf({ client, subject, read, outcome }: Answered, truth: Truth): string | null {
  const { offset, entry } = outcome
  const asked = 'name' in subject ? subject.name : subject.party
  const who = `${client} asked for ${asked} (${read}) at offset ${offset}`
  if (offset > truth.headOffset) return `${who}, which the log does not have`
  const wanted =
    'name' in subject
      ? truth.entryOfName(subject.name, offset)
      : truth.entryOfParty(subject.party, offset)
  if (isSame(wanted, entry)) return null
  return `${who} and received ${entryText(entry)}; true is ${entryText(wanted)}`
}

/** Per client, in the order of answers: a later request is never answered at an older offset. */
export function checkMonotony(history: readonly HistoryEvent[]): RuleTally {
  const floors = new Map<string, { readonly offset: number; readonly endMs: number }>()
  const later = answeredIn(history).flatMap(({ client, startMs, endMs, outcome: { offset } }) => {
    const floor = floors.get(client)
    if (floor === undefined || offset > floor.offset) floors.set(client, { offset, endMs })
    return floor !== undefined && startMs >= floor.endMs ? { client, offset, floor } : []
  })
  return tally('reads never go back', later, ({ client, offset, floor }) =>
    offset >= floor.offset
      ? null
      : `${client} was answered at offset ${floor.offset} and then at ${offset}`,
  )
}

export function answeredIn(history: readonly HistoryEvent[]): Answered[] {
  return eventsOf(history, 'lookup').filter(
    (event): event is Answered => event.outcome.kind === 'answered',
  )
}

function isSame(wanted: CertifiedEntry | null, seen: CertifiedEntry | null): boolean {
  if (wanted === null || seen === null) return wanted === seen
  return (Object.keys(wanted) as (keyof CertifiedEntry)[]).every((key) => wanted[key] === seen[key])
}

function entryText(entry: CertifiedEntry | null): string {
  return entry === null ? 'absent' : `${entry.name} of ${entry.user} (${entry.contract_id})`
}
