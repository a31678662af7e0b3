/** Checks a run of certified reads. The checkers do not depend on how the reader works. */

import { entryToWire, type SimEntry } from '@quorumscan/testkit'
import { formatInstant, isTrusted, maxFaulty } from '@quorumscan/verifier'
import type { CertifiedRecord } from './certified-record.ts'
import type { CertifiedRun } from './certified-run.ts'

export type CertifiedViolation = {
  readonly rule:
    | 'fork'
    | 'truth'
    | 'freshness'
    | 'monotonic-reads'
    | 'signers'
    | 'availability'
    | 'wait'
    | 'withheld'
  readonly read: CertifiedRecord
  readonly why: string
}

type Checker = (run: CertifiedRun) => readonly CertifiedViolation[]
type Decided = CertifiedRecord & {
  readonly outcome: {
    readonly kind: string
    readonly offset: number
    readonly recordTime: number
    readonly historyHash: string
    readonly answer: unknown
    readonly agreed: readonly string[]
  }
}

/** Time limit of a read: two hung nodes, twice, and a node that waits for an offset. */
const ANSWER_MS_MAX = 2600
/** Up to this number of faulty nodes, or f, the limit of a read holds. */
const BROKEN_MAX = 2
const SUSPICIOUS_MS = 12_000

function decided(run: CertifiedRun): readonly Decided[] {
  return run.reads.filter((read): read is Decided => 'answer' in read.outcome)
}

/** A read is only guaranteed if it needs more signers than there are liars, of those that count. */
const isGuaranteed = ({ liars, trust }: CertifiedRun, read: CertifiedRecord) =>
  read.signersNeeded > liars.filter((index) => isTrusted(trust, `sv-${index + 1}`)).length

const checkTruth: Checker = (run) =>
  decided(run).flatMap((read) => {
    if (!isGuaranteed(run, read)) return []
    const { ledger } = run.world.cluster
    const { offset, recordTime, historyHash, answer, kind } = read.outcome
    if (offset > ledger.head()) return [{ rule: 'truth', read, why: `no entry at ${offset}` }]
    const point = ledger.pointAt(offset)
    if (point.historyHash !== historyHash || point.recordTime !== recordTime)
      return [{ rule: 'truth', read, why: `history point differs at ${offset}` }]
    const truth = truthOf(run, read)
    const isAbsent = kind.endsWith('absent')
    const isTrue = JSON.stringify(answer) === JSON.stringify(truth) && isAbsent === (truth === null)
    return isTrue
      ? []
      : [{ rule: 'truth', read, why: `${JSON.stringify(answer)}, not ${JSON.stringify(truth)}` }]
  })

/** The answer of an honest node. Any page token is accepted if there is a next page. */
function truthOf(run: CertifiedRun, read: Decided): unknown {
  const { ledger } = run.world.cluster
  const { offset, answer } = read.outcome
  const wire = (entry: SimEntry | null) => (entry === null ? null : entryToWire(entry))
  if ('lookup' in read) return wire(ledger.find(read.lookup, offset))
  const { prefix, pageSize, pageToken } = read.page
  const all = ledger.list(prefix, offset)
  const after = pageToken === null ? '' : nameIn(pageToken)
  const rest = all.filter(({ name }) => name > after)
  const { next_page_token: next } = answer as { next_page_token: string | null }
  const isMore = rest.length > pageSize
  return {
    entries: rest.slice(0, pageSize).map(wire),
    next_page_token: isMore === (next !== null) ? next : `${isMore}`,
  }
}

/** u64 offset, the last name, and 16 bytes. */
function nameIn(token: string): string {
  return Buffer.from(token, 'base64url').subarray(8, -16).toString()
}

const checkFreshness: Checker = (run) =>
  decided(run).flatMap((read) => {
    const { maxAgeMs = 60_000, minOffset = 0 } = read.options
    if ('page' in read && read.page.pageToken !== null) return []
    const ageMs = (read.endMicros - read.outcome.recordTime) / 1000
    // No reader can guarantee an age by a clock that is behind.
    if (isGuaranteed(run, read) && ageMs > maxAgeMs && !read.isBehind)
      return [
        {
          rule: 'freshness',
          read,
          why: `${ageMs} ms old, ${formatInstant(read.outcome.recordTime)}`,
        },
      ]
    return read.outcome.offset < minOffset
      ? [{ rule: 'freshness', read, why: `offset ${read.outcome.offset} below ${minOffset}` }]
      : []
  })

const checkMonotonicReads: Checker = (run) =>
  decided(run).flatMap((read) => {
    if ('page' in read && read.page.pageToken !== null) return []
    const before = decided(run).filter(
      ({ client, endMs }) => client === read.client && endMs < read.startMs,
    )
    const highest = Math.max(-1, ...before.map(({ outcome }) => outcome.offset))
    return read.outcome.offset < highest
      ? [{ rule: 'monotonic-reads', read, why: `offset ${read.outcome.offset} after ${highest}` }]
      : []
  })

const checkSigners: Checker = (run) =>
  decided(run).flatMap((read) => {
    const { agreed } = read.outcome
    const members = run.world.cluster.genesis.nodes.map(({ name }) => name)
    const counted = members.filter((name) => isTrusted(run.trust, name))
    const distinct = new Set(agreed.filter((name) => counted.includes(name)))
    return distinct.size < read.signersNeeded || distinct.size < agreed.length
      ? [{ rule: 'signers', read, why: `${agreed} of ${read.signersNeeded}` }]
      : []
  })

/** Liars and faulty nodes cost a limited time. The reader waits for slow nodes. */
const checkAvailability: Checker = (run) => {
  const nodeCount = run.world.cluster.members.length
  const faultyMax = maxFaulty(nodeCount)
  return run.liars.length > faultyMax || run.trust !== null
    ? []
    : run.reads.flatMap((read): readonly CertifiedViolation[] => {
        const { outcome, signersNeeded, steadyCount, answeringCount } = read
        const tookMs = read.endMs - read.startMs - read.stalledMs
        if (outcome.kind === 'disputed') return [{ rule: 'availability', read, why: 'disputed' }]
        if (read.isLost) return []
        const isPatient = read.waitMs >= 10_000 && answeringCount >= signersNeeded
        if (outcome.kind === 'insufficient' && isPatient)
          return [{ rule: 'wait', read, why: `insufficient after ${tookMs} ms` }]
        if (steadyCount < signersNeeded || outcome.kind === 'pruned') return []
        if (nodeCount - steadyCount > Math.max(BROKEN_MAX, faultyMax)) return []
        // The log itself may be older than the read accepts, or stall before the offset that the read needs.
        if (outcome.kind === 'lagging' && outcome.reason !== 'not-reached') return []
        // A client with a shorter deadline may reach it, but must not end before it.
        if (!('answer' in outcome) && tookMs >= read.waitMs && read.waitMs < ANSWER_MS_MAX)
          return []
        if (!('answer' in outcome))
          return [{ rule: 'availability', read, why: `${outcome.kind} with ${steadyCount} up` }]
        return tookMs > ANSWER_MS_MAX
          ? [{ rule: 'availability', read, why: `took ${tookMs} ms` }]
          : []
      })
}

/** Liars cannot withhold newer states: a suspiciously old answer is the newest that exists. */
const checkHeld: Checker = (run) =>
  decided(run).flatMap((read) => {
    const ageMs = (read.endMicros - read.outcome.recordTime) / 1000
    if ('page' in read && read.page.pageToken !== null) return []
    const isHeld = read.heldFrom !== null && read.outcome.offset < read.heldFrom
    return isHeld && ageMs > SUSPICIOUS_MS + read.hiddenMs
      ? [{ rule: 'withheld', read, why: `${ageMs} ms old, and ${read.heldFrom} was certified` }]
      : []
  })

/** A reader returns no two answers of different histories or states at one offset. */
const checkFork: Checker = (run) => {
  const first = new Map<string, Decided>()
  const readers = [...new Set(run.reads.map(({ reader }) => reader))]
  return decided(run).flatMap((read) => {
    const id = `${readers.indexOf(read.reader)} ${read.outcome.offset} ${JSON.stringify('lookup' in read ? read.lookup : read.page)}`
    const other = first.get(id)
    if (other === undefined) first.set(id, read)
    return other === undefined ||
      JSON.stringify(other.outcome.answer) === JSON.stringify(read.outcome.answer)
      ? []
      : [{ rule: 'fork', read, why: `another answer at ${read.outcome.offset} than before` }]
  })
}

const CHECKERS = [
  checkFork,
  checkTruth,
  checkFreshness,
  checkMonotonicReads,
  checkSigners,
  checkAvailability,
  checkHeld,
]

export function checkCertified(run: CertifiedRun): readonly CertifiedViolation[] {
  return CHECKERS.flatMap((checker) => checker(run))
}

/** One line for a report. */
export function describeCertified({ rule, read, why }: CertifiedViolation): string {
  const request = 'lookup' in read ? read.lookup : read.page
  const when = `${read.startMs.toFixed(1)}..${read.endMs.toFixed(1)} ms`
  return `${rule}: client ${read.client} ${JSON.stringify(request)} ${JSON.stringify(read.options)} ${when} ${read.outcome.kind}: ${why}`
}
