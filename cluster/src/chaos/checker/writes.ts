/** What was acknowledged is in the log, once; what is streamed is what the log has. */
import { type EventOf, eventsOf, type HistoryEvent, type RuleTally, tally } from '../history.ts'
import type { Truth } from './truth.ts'

type Write = EventOf<'write'>
type Stream = EventOf<'stream'>

const KEPT_RULES: Readonly<Record<Write['operation'], string>> = {
  accept: 'an acknowledged payment is kept',
  renew: 'an acknowledged renewal is kept',
  transfer: 'an acknowledged transfer is kept',
  'accept-transfer': 'an accepted transfer stays accepted',
}

export function checkWrites(history: readonly HistoryEvent[], truth: Truth): RuleTally[] {
  const writes = eventsOf(history, 'write')
  const acknowledged = writes.filter(({ outcome }) => outcome === 'acknowledged')
  const countOf = ({ reference }: Write) => truth.paymentsFor(reference).length
  const accepts = writes.filter(({ operation }) => operation === 'accept')
  return [
    ...Object.entries(KEPT_RULES).map(([operation, rule]) => {
      const ofRule = acknowledged.filter((write) => write.operation === operation)
      return tally(rule, ofRule, (write) => lossOf(write, truth))
    }),
    tally(
      'nothing is paid twice',
      accepts.filter((write) => countOf(write) > 0),
      (write) => (countOf(write) > 1 ? `${whatOf(write)} made more than one payment` : null),
    ),
  ]
}

function lossOf(write: Write, truth: Truth): string | null {
  const { operation, contractId } = write
  const contract = contractId === null ? null : truth.contract(contractId)
  if (contract === null)
    return `${whatOf(write)} was acknowledged, and the log has no ${contractId ?? 'such contract'}`
  return operation === 'accept-transfer' && contract.archivedAt === null
    ? `${whatOf(write)} was acknowledged, and the offer is still open`
    : null
}

function whatOf({ operation, client, reference }: Write): string {
  return `the ${operation} of ${client} (${reference})`
}

export function checkStreams(history: readonly HistoryEvent[], truth: Truth): RuleTally[] {
  const streams = eventsOf(history, 'stream')
  const told = streams.flatMap(({ client, updates, beginExclusive }) =>
    updates.map((update, index) => ({
      client,
      ...update,
      before: updates[index - 1]?.offset ?? beginExclusive,
    })),
  )
  return [
    tally('streams go forward', told, ({ client, offset, before }) =>
      offset > before ? null : `${client} was told of offset ${offset} after ${before}`,
    ),
    tally('streams are true', told, ({ client, offset, updateId }) =>
      truth.updateId(offset) === updateId
        ? null
        : `${client} was told of ${updateId} at offset ${offset}, which the log has not`,
    ),
    tally('streams lose nothing', streams, (stream) => missedIn(stream, streams)),
  ]
}

/** What another stream of the same party was told between the ends of this one. */
function missedIn(stream: Stream, all: readonly Stream[]): string | null {
  const { client, party, beginExclusive, throughOffset } = stream
  const mine = new Set(stream.updates.map(({ offset }) => offset))
  const missed = all
    .filter((other) => other.party === party)
    .flatMap(({ updates }) => updates)
    .find(({ offset }) => offset > beginExclusive && offset <= throughOffset && !mine.has(offset))
  return missed === undefined
    ? null
    : `${client} was not told of offset ${missed.offset}, between ${beginExclusive} and ${throughOffset}`
}
