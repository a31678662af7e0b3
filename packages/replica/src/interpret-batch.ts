/** Interprets entries in order against a working state, fetching what they miss in few round trips. */
import { sha256, toHex } from '@quorumscan/base'
import type { Genesis } from '@quorumscan/consensus'
import {
  activityRowsOf,
  type CellKey,
  cellName,
  type DecodedEntry,
  decodeEntry,
  type Head,
  type Interpretation,
  interpret,
  type LoadedCell,
  type LogEntry,
  nextHistoryHash,
  type WorkingState,
} from '@quorumscan/ledger'
import type { ContractId, EntryResult, Submission } from '@quorumscan/model'
import type { Step } from './step.ts'

export type InterpretedEntry = Step & { readonly result: EntryResult }

export type BatchContext = {
  readonly genesis: Genesis
  readonly genesisHash: string
  readonly state: WorkingState
  readonly fetch: (keys: readonly CellKey[]) => Promise<readonly LoadedCell[]>
}

type Decoded = {
  readonly entry: LogEntry
  readonly entryHash: string
  readonly decoded: DecodedEntry
}

/** The entries follow the head without a gap. Their effects are applied to the working state. */
export async function interpretBatch(
  entries: readonly LogEntry[],
  head: Head,
  context: BatchContext,
): Promise<InterpretedEntry[]> {
  const batch = entries.map(
    (entry): Decoded => ({
      entry,
      entryHash: toHex(sha256(entry.bytes)),
      decoded: decodeEntry(entry.bytes, context.genesisHash),
    }),
  )
  const lookahead = createLookahead(batch, context)
  const done: InterpretedEntry[] = []
  let historyHash = head.historyHash
  while (done.length < batch.length) {
    const next = batch[done.length] as Decoded
    const interpretation = interpretNext(next, context)
    if (interpretation.kind === 'needs') {
      const keys = distinct([...interpretation.keys, ...lookahead.needsAfter(done.length)])
      context.state.load(await context.fetch(keys))
      continue
    }
    const { result, delta } = interpretation
    const { offset, recordTime } = next.entry
    const { entryHash } = next
    historyHash = nextHistoryHash({ previous: historyHash, offset, recordTime, entryHash, result })
    context.state.apply(delta)
    for (const { contractId } of delta.created) lookahead.exists(contractId)
    const { synchronizerId } = context.genesis
    const activities = activityRowsOf({ offset, recordTime, synchronizerId, result })
    done.push({ offset, recordTime, historyHash, entryHash, result, delta, activities })
  }
  // The steps carry what is to be written.
  context.state.takeChanges()
  return done
}

/**
 * Interprets later entries on what is known so far, only to learn early what they will miss. Each is
 * tried again while it misses cells, and when a contract that it names has come into existence, so the
 * work stays linear in the batch.
 */
function createLookahead(batch: readonly Decoded[], context: BatchContext) {
  const untried = new Set(batch.keys())
  const namedBy = new Map<ContractId, number[]>()
  for (const [index, { decoded }] of batch.entries())
    if (decoded.kind === 'submission')
      for (const id of idsIn(decoded.submission)) {
        const indexes = namedBy.get(id)
        if (indexes === undefined) namedBy.set(id, [index])
        else indexes.push(index)
      }
  return {
    exists(id: ContractId): void {
      for (const index of namedBy.get(id) ?? []) untried.add(index)
    },
    needsAfter(position: number): CellKey[] {
      const keys: CellKey[] = []
      for (const index of untried) {
        const interpretation =
          index > position ? interpretNext(batch[index] as Decoded, context) : undefined
        if (interpretation?.kind === 'needs') keys.push(...interpretation.keys)
        else untried.delete(index)
      }
      return keys
    },
  }
}

/** Contract ids in the commands, wherever they stand. */
function idsIn(submission: Submission): ReadonlySet<ContractId> {
  return new Set(JSON.stringify(submission.commands).match(/\b00[0-9a-f]{64}\b/g))
}

function interpretNext({ entry, decoded }: Decoded, context: BatchContext): Interpretation {
  const { genesis, genesisHash, state } = context
  return interpret({ entry, decoded, genesis, genesisHash, view: state })
}

function distinct(keys: readonly CellKey[]): CellKey[] {
  return [...new Map(keys.map((key) => [cellName(key), key])).values()]
}
