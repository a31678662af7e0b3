/** What was acknowledged is in the log, once; what is streamed is what the log has. */
import type { Finding, HistoryEvent } from '../history.ts'
import type { Truth } from './truth.ts'

export function checkWrites(history: readonly HistoryEvent[], truth: Truth): Finding[] {
  return history.flatMap((event) => {
    if (event.kind !== 'write') return []
    const what = `the ${event.operation} of ${event.client} (${event.reference})`
    const findings: Finding[] = []
    if (event.outcome === 'acknowledged' && event.contractId !== null) {
      const contract = truth.contract(event.contractId)
      if (contract === null)
        findings.push({
          rule: 'nothing acknowledged is lost',
          sentence: `${what} was acknowledged, and the log has no ${event.contractId}`,
        })
      else if (event.operation === 'accept-transfer' && contract.archivedAt === null)
        findings.push({
          rule: 'nothing acknowledged is lost',
          sentence: `${what} was acknowledged, and the offer is still open`,
        })
    }
    if (event.operation === 'accept' && truth.paymentsFor(event.reference).length > 1)
      findings.push({ rule: 'nothing is doubled', sentence: `${what} made more than one payment` })
    return findings
  })
}

export function checkStreams(history: readonly HistoryEvent[], truth: Truth): Finding[] {
  const findings: Finding[] = []
  const toldByParty = new Map<string, Map<number, string>>()
  for (const event of history) {
    if (event.kind !== 'stream') continue
    const told = toldByParty.get(event.party) ?? new Map<number, string>()
    toldByParty.set(event.party, told)
    let last = event.beginExclusive
    for (const { offset, updateId } of event.updates) {
      if (offset <= last)
        findings.push({
          rule: 'streams go forward',
          sentence: `${event.client} was told of offset ${offset} after ${last}`,
        })
      if (truth.updateId(offset) !== updateId)
        findings.push({
          rule: 'streams are true',
          sentence: `${event.client} was told of ${updateId} at offset ${offset}, which the log has not`,
        })
      told.set(offset, updateId)
      last = offset
    }
  }
  for (const event of history) {
    if (event.kind !== 'stream') continue
    const told = toldByParty.get(event.party)
    const mine = new Set(event.updates.map(({ offset }) => offset))
    const missed = [...(told?.keys() ?? [])].find(
      (offset) =>
        offset > event.beginExclusive && offset <= event.throughOffset && !mine.has(offset),
    )
    if (missed !== undefined)
      findings.push({
        rule: 'streams lose nothing',
        sentence: `${event.client} was not told of offset ${missed}, between ${event.beginExclusive} and ${event.throughOffset}`,
      })
  }
  return findings
}
