/** Rules: acknowledged writes are in the log, once; streams contain the updates of the log. */
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
