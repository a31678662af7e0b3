/** Voted reads of the proxy: enough nodes give the same bytes at one offset (D-34 to D-38). */
import { concatBytes, utf8 } from '@quorumscan/base'
import { ScanError } from '@quorumscan/errors'
import { type Decided, isDecided, type Outcome, type ReadOptions } from '@quorumscan/reader'
import type { Reader } from '@quorumscan/reader/voted'
import { DSO_ENTRY_NAME, type Lookup } from '@quorumscan/verifier'
import { type ProxyRead, voteRequestOf } from './operations.ts'

type VotedReads = Pick<Reader, 'lookup' | 'read'> & {
  /** Names of the nodes are in the order of the genesis. */
  status(): { readonly nodes: readonly { readonly name: string }[] }
}

/** A batch whose lookups ended at different offsets is asked again, at the highest of them. */
const BATCH_ATTEMPTS_MAX = 3

/** @throws {ReaderError} If the read was not attempted. */
export async function readVoted(
  reader: VotedReads,
  asked: ProxyRead,
  options: ReadOptions,
): Promise<Outcome> {
  if ('lookup' in asked) {
    const [outcome] = await reader.lookup([asked.lookup], options)
    return outcome as Outcome // One outcome for each lookup.
  }
  if ('lookups' in asked) return readBatch(reader, asked.lookups, options)
  return reader.read(voteRequestOf(asked), options)
}

/** The first lookup that failed, or the answers of all at one offset. */
async function readBatch(
  reader: VotedReads,
  lookups: readonly Lookup[],
  options: ReadOptions,
): Promise<Outcome> {
  // An empty batch still needs an offset, so the reader looks up the operator's entry, which always exists.
  const asked = lookups.length === 0 ? [{ name: DSO_ENTRY_NAME }] : lookups
  let minOffset = options.minOffset
  for (let left = BATCH_ATTEMPTS_MAX; left > 0; left--) {
    const outcomes = await reader.lookup(asked, { ...options, minOffset })
    const failed = outcomes.find((outcome) => !isDecided(outcome))
    if (failed !== undefined) return failed
    const decided = outcomes as [Decided, ...Decided[]]
    const offsets = decided.map(({ offset }) => offset)
    minOffset = Math.max(...offsets)
    if (minOffset === Math.min(...offsets))
      return { ...agreedOn(decided, reader), answer: batchBody(decided.slice(0, lookups.length)) }
  }
  const message = 'The lookups of the batch were not decided at one common offset.'
  throw new ScanError('CONSENSUS_LAGGING', message, { retryAfterSeconds: 1 })
}

/**
 * The decision of all lookups of a batch (D-14), with the nodes that agreed on every one. Each was decided by its threshold,
 * and perhaps by other nodes, so they may be fewer (D-40).
 */
function agreedOn(decided: readonly [Decided, ...Decided[]], reader: VotedReads): Decided {
  const [first] = decided
  const nodes = reader.status().nodes.map(({ name }) => name)
  const some = (namesOf: (one: Decided) => readonly string[]) => {
    const named = new Set(decided.flatMap(namesOf))
    return nodes.filter((name) => named.has(name))
  }
  return {
    ...first,
    kind: first.kind.startsWith('verified') ? 'verified' : 'trusted',
    agreed: first.agreed.filter((node) => decided.every((one) => one.agreed.includes(node))),
    asked: some((one) => one.asked ?? []),
    dissented: some((one) => one.dissented),
    answered: Math.min(...decided.map((one) => one.answered)),
  }
}

/** `{"results":[…]}` of the answers, byte for byte as the nodes gave them. */
function batchBody(decided: readonly Decided[]): Decided['answer'] {
  const comma = utf8(',')
  const parts = decided.flatMap(({ answer }, index) => (index === 0 ? [answer] : [comma, answer]))
  return concatBytes([utf8('{"results":['), ...parts, utf8(']}')])
}
