/** Every answer that was verified is true at its offset, and no client is taken back. */
import type { Finding, HistoryEvent, SeenEntry, Subject } from '../history.ts'
import type { Truth } from './truth.ts'

type Lookup = Extract<HistoryEvent, { kind: 'lookup' }>

/** @param how.strongOnly - With more than f nodes faulty, weak answers promise nothing. */
export function checkLookups(
  history: readonly HistoryEvent[],
  how: { readonly truth: Truth; readonly strongOnly: boolean },
): Finding[] {
  return history.flatMap((event) => {
    if (event.kind !== 'lookup' || event.outcome.kind !== 'decided') return []
    if (how.strongOnly && event.quorum !== 'strong') return []
    const { offset, entry } = event.outcome
    const who = `${event.client} asked for ${subjectText(event.subject)} (${event.quorum}) at offset ${offset}`
    if (offset > how.truth.headOffset)
      return [{ rule: 'answers are true', sentence: `${who}, which the log does not have` }]
    const wanted =
      'name' in event.subject
        ? how.truth.entryOfName(event.subject.name, offset)
        : how.truth.entryOfParty(event.subject.party, offset)
    if (isSame(wanted, entry)) return []
    return [
      {
        rule: 'answers are true',
        sentence: `${who} and was told ${entryText(entry)}; it was ${entryText(wanted)}`,
      },
    ]
  })
}

/** Per client, in the order in which answers came: a later question is never answered at an older offset. */
export function checkMonotony(history: readonly HistoryEvent[]): Finding[] {
  const floors = new Map<string, { readonly offset: number; readonly endMs: number }>()
  const findings: Finding[] = []
  for (const event of history) {
    if (!isDecided(event)) continue
    const floor = floors.get(event.client)
    const { offset } = event.outcome
    if (floor !== undefined && event.startMs >= floor.endMs && offset < floor.offset)
      findings.push({
        rule: 'reads never go back',
        sentence: `${event.client} was answered at offset ${floor.offset} and then at ${offset}`,
      })
    if (floor === undefined || offset > floor.offset)
      floors.set(event.client, { offset, endMs: event.endMs })
  }
  return findings
}

type DecidedLookup = Lookup & { readonly outcome: { readonly kind: 'decided' } }

function isDecided(event: HistoryEvent): event is DecidedLookup {
  return event.kind === 'lookup' && event.outcome.kind === 'decided'
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
