/**
 * Rules: every verified answer is true at its offset, and the reads of a client never go back; acknowledged writes are in
 * the log, once; streams contain the updates of the log.
 */
import type { CertifiedEntry } from '@quorumscan/verifier/certified'
import { type EventOf, eventsOf, type HistoryEvent, type RuleTally, tally } from '../history.ts'
import type { Truth } from './truth.ts'

type Lookup = EventOf<'lookup'>
type Answered = Lookup & { readonly outcome: { readonly kind: 'answered' } }

/** A rule for voted answers, and one for signed and proven ones. */
export const TRUTH_RULES = { voted: 'answers are true', proven: 'proofs are true' }

/** @param options.strongOnly - With more than f nodes faulty, answers of f + 1 nodes may be false. */
export function checkLookups(
  history: readonly HistoryEvent[],
  { truth, strongOnly }: { readonly truth: Truth; readonly strongOnly: boolean },
): RuleTally[] {
  const checked = answeredIn(history).filter(({ read }) => !strongOnly || read.endsWith('strong'))
  const isVoted = ({ read }: Lookup) => read === 'weak' || read === 'strong'
  const hasExpired = ({ subject, outcome }: Answered) =>
    'name' in subject && truth.hasExpired(subject.name, outcome.offset)
  const rules: Readonly<Record<string, (answer: Answered) => boolean>> = {
    [TRUTH_RULES.voted]: isVoted,
    [TRUTH_RULES.proven]: (answer) => !isVoted(answer),
    'an expired name has no entry, or a new owner': hasExpired,
  }
  return Object.entries(rules).map(([rule, isOf]) =>
    tally(rule, checked.filter(isOf), (answer) => violationOf(answer, truth)),
  )
}

function violationOf({ client, subject, read, outcome }: Answered, truth: Truth): string | null {
  const { offset, entry } = outcome
  const asked = 'name' in subject ? subject.name : subject.party
  const what = `${client} asked for ${asked} (${read}) at offset ${offset}`
  if (offset > truth.headOffset) return `${what}, which the log does not have`
  const wanted =
    'name' in subject
      ? truth.entryOfName(subject.name, offset)
      : truth.entryOfParty(subject.party, offset)
  if (isSame(wanted, entry)) return null
  return `${what} and received ${entryText(entry)}; expected: ${entryText(wanted)}`
}

/** Per client, in the order of answers: a later request is never answered at an older offset. */
export function checkMonotonicReads(history: readonly HistoryEvent[]): RuleTally {
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

type Write = EventOf<'write'>
type Stream = EventOf<'stream'>

const DURABILITY_RULES: Readonly<Record<Write['operation'], string>> = {
  accept: 'an acknowledged payment is durable',
  renew: 'an acknowledged renewal is durable',
  transfer: 'an acknowledged transfer is durable',
  'accept-transfer': 'an accepted transfer stays accepted',
}

export function checkWrites(history: readonly HistoryEvent[], truth: Truth): RuleTally[] {
  const writes = eventsOf(history, 'write')
  const acknowledged = writes.filter(({ outcome }) => outcome === 'acknowledged')
  const countOf = ({ reference }: Write) => truth.paymentsFor(reference).length
  const paid = writes.filter((write) => write.operation === 'accept' && countOf(write) > 0)
  return [
    ...Object.entries(DURABILITY_RULES).map(([operation, rule]) => {
      const ofRule = acknowledged.filter((write) => write.operation === operation)
      return tally(rule, ofRule, (write) => lossOf(write, truth))
    }),
    tally('nothing is paid twice', paid, (write) =>
      countOf(write) > 1 ? `${whatOf(write)} made more than one payment` : null,
    ),
  ]
}

function lossOf(write: Write, truth: Truth): string | null {
  const { operation, contractId } = write
  const contract = contractId === null ? null : truth.contract(contractId)
  if (contract === null)
    return `${whatOf(write)} was acknowledged, but the log has no ${contractId ?? 'such contract'}`
  return operation === 'accept-transfer' && contract.archivedAt === null
    ? `${whatOf(write)} was acknowledged, but the offer is still open`
    : null
}

function whatOf({ operation, client, reference }: Write): string {
  return `the ${operation} of ${client} (${reference})`
}

export function checkStreams(history: readonly HistoryEvent[], truth: Truth): RuleTally[] {
  const streams = eventsOf(history, 'stream')
  const received = streams.flatMap(({ client, updates, beginExclusive }) =>
    updates.map((update, index) => ({
      client,
      ...update,
      before: updates[index - 1]?.offset ?? beginExclusive,
    })),
  )
  return [
    tally('streams go forward', received, ({ client, offset, before }) =>
      offset > before ? null : `${client} received offset ${offset} after ${before}`,
    ),
    tally('streams are true', received, ({ client, offset, updateId }) =>
      truth.updateId(offset) === updateId
        ? null
        : `${client} received ${updateId} at offset ${offset}, which the log does not have`,
    ),
    tally('streams lose nothing', streams, (stream) => missedIn(stream, streams)),
  ]
}

/** An update that another stream of the same party received within the range of this one. */
function missedIn(stream: Stream, all: readonly Stream[]): string | null {
  const { client, party, beginExclusive, throughOffset } = stream
  const mine = new Set(stream.updates.map(({ offset }) => offset))
  const missed = all
    .filter((other) => other.party === party)
    .flatMap(({ updates }) => updates)
    .find(({ offset }) => offset > beginExclusive && offset <= throughOffset && !mine.has(offset))
  return missed === undefined
    ? null
    : `${client} did not receive offset ${missed.offset}, between ${beginExclusive} and ${throughOffset}`
}
