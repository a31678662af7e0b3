/** What was acknowledged is in the log, once; what is streamed is what the log has. */
import type { HistoryEvent, RuleTally } from '../history.ts'
import type { Truth } from './truth.ts'

type Write = Extract<HistoryEvent, { kind: 'write' }>

const KEPT_RULES: Readonly<Record<Write['operation'], string>> = {
  accept: 'an acknowledged payment is kept',
  renew: 'an acknowledged renewal is kept',
  transfer: 'an acknowledged transfer is kept',
  'accept-transfer': 'an accepted transfer stays accepted',
}

export function checkWrites(history: readonly HistoryEvent[], truth: Truth): RuleTally[] {
  const writes = history.filter((event) => event.kind === 'write')
  const kept = Object.entries(KEPT_RULES).map(([operation, rule]): RuleTally => {
    const acknowledged = writes.filter(
      (write) => write.operation === operation && write.outcome === 'acknowledged',
    )
    return {
      rule,
      samples: acknowledged.length,
      findings: acknowledged.flatMap((write) => lossOf(write, truth) ?? []),
    }
  })
  const accepts = writes.filter(({ operation }) => operation === 'accept')
  const paid = accepts.filter(({ reference }) => truth.paymentsFor(reference).length > 0)
  return [
    ...kept,
    {
      rule: 'nothing is paid twice',
      samples: paid.length,
      findings: paid
        .filter(({ reference }) => truth.paymentsFor(reference).length > 1)
        .map((write) => `${whatOf(write)} made more than one payment`),
    },
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

type Stream = Extract<HistoryEvent, { kind: 'stream' }>

export function checkStreams(history: readonly HistoryEvent[], truth: Truth): RuleTally[] {
  const streams = history.filter((event): event is Stream => event.kind === 'stream')
  const told = streams.flatMap(({ client, updates, beginExclusive }) =>
    updates.map((update, index) => ({
      client,
      ...update,
      before: updates[index - 1]?.offset ?? beginExclusive,
    })),
  )
  return [
    {
      rule: 'streams go forward',
      samples: told.length,
      findings: told
        .filter(({ offset, before }) => offset <= before)
        .map(
          ({ client, offset, before }) => `${client} was told of offset ${offset} after ${before}`,
        ),
    },
    {
      rule: 'streams are true',
      samples: told.length,
      findings: told
        .filter(({ offset, updateId }) => truth.updateId(offset) !== updateId)
        .map(
          ({ client, offset, updateId }) =>
            `${client} was told of ${updateId} at offset ${offset}, which the log has not`,
        ),
    },
    {
      rule: 'streams lose nothing',
      samples: streams.length,
      findings: streams.flatMap((stream) => missedIn(stream, streams)),
    },
  ]
}

/** What another stream of the same party was told between the ends of this one. */
function missedIn(stream: Stream, all: readonly Stream[]): string[] {
  const { client, party, beginExclusive, throughOffset } = stream
  const mine = new Set(stream.updates.map(({ offset }) => offset))
  const missed = all
    .filter((other) => other.party === party)
    .flatMap(({ updates }) => updates)
    .find(({ offset }) => offset > beginExclusive && offset <= throughOffset && !mine.has(offset))
  return missed === undefined
    ? []
    : [
        `${client} was not told of offset ${missed.offset}, between ${beginExclusive} and ${throughOffset}`,
      ]
}
