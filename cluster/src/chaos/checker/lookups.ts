/** Every answer that was verified is true at its offset, and no client is taken back. */
import type { HistoryEvent, RuleTally, SeenEntry, Subject } from '../history.ts'
import type { Truth } from './truth.ts'

type Lookup = Extract<HistoryEvent, { kind: 'lookup' }>
type Answered = Lookup & { readonly outcome: { readonly kind: 'answered' } }

/** A rule for what nodes voted on, and one for what they signed or proved. */
export const TRUTH_RULES = { voted: 'answers are true', proven: 'proofs are true' }

/** @param how.strongOnly - With more than f nodes faulty, answers that f + 1 give promise nothing. */
export function checkLookups(
  history: readonly HistoryEvent[],
  how: { readonly truth: Truth; readonly strongOnly: boolean },
): RuleTally[] {
  const { truth, strongOnly } = how
  const judged = answeredIn(history).filter(({ read }) => !strongOnly || isStrong(read))
  const isVoted = ({ read }: Lookup) => read === 'weak' || read === 'strong'
  const tally = (rule: string, answers: readonly Answered[]): RuleTally => ({
    rule,
    samples: answers.length,
    findings: answers.flatMap((answer) => untruthOf(answer, truth) ?? []),
  })
  const afterExpiry = judged.filter(
    ({ subject, outcome }) => 'name' in subject && truth.hasExpired(subject.name, outcome.offset),
  )
  return [
    tally(TRUTH_RULES.voted, judged.filter(isVoted)),
    tally(
      TRUTH_RULES.proven,
      judged.filter((answer) => !isVoted(answer)),
    ),
    {
      rule: 'a name that has expired is gone, or somebody’s anew',
      samples: afterExpiry.length,
      findings: afterExpiry.flatMap((answer) => untruthOf(answer, truth) ?? []),
    },
  ]
}

export function isStrong(read: Lookup['read']): boolean {
  return read.endsWith('strong')
}

function untruthOf({ client, subject, read, outcome }: Answered, truth: Truth): string | null {
  const { offset, entry } = outcome
  const who = `${client} asked for ${subjectText(subject)} (${read}) at offset ${offset}`
  if (offset > truth.headOffset) return `${who}, which the log does not have`
  const wanted =
    'name' in subject
      ? truth.entryOfName(subject.name, offset)
      : truth.entryOfParty(subject.party, offset)
  if (isSame(wanted, entry)) return null
  return `${who} and was told ${entryText(entry)}; it was ${entryText(wanted)}`
}

/** Per client, in the order in which answers came: a later question is never answered at an older offset. */
export function checkMonotony(history: readonly HistoryEvent[]): RuleTally {
  const floors = new Map<string, { readonly offset: number; readonly endMs: number }>()
  const findings: string[] = []
  let samples = 0
  for (const { client, startMs, endMs, outcome } of answeredIn(history)) {
    const floor = floors.get(client)
    const { offset } = outcome
    if (floor !== undefined && startMs >= floor.endMs) {
      samples += 1
      if (offset < floor.offset)
        findings.push(`${client} was answered at offset ${floor.offset} and then at ${offset}`)
    }
    if (floor === undefined || offset > floor.offset) floors.set(client, { offset, endMs })
  }
  return { rule: 'reads never go back', samples, findings }
}

export function answeredIn(history: readonly HistoryEvent[]): Answered[] {
  return history.filter(
    (event): event is Answered => event.kind === 'lookup' && event.outcome.kind === 'answered',
  )
}

function isSame(wanted: SeenEntry | null, seen: SeenEntry | null): boolean {
  if (wanted === null || seen === null) return wanted === seen
  return (Object.keys(wanted) as (keyof SeenEntry)[]).every((key) => wanted[key] === seen[key])
}

function subjectText(subject: Subject): string {
  return 'name' in subject ? subject.name : subject.party
}

function entryText(entry: SeenEntry | null): string {
  return entry === null ? 'absent' : `${entry.name} of ${entry.user} (${entry.contract_id})`
}
