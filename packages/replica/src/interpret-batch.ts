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
import type { EntryResult } from '@quorumscan/model'
import { createLookahead } from './lookahead.ts'
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
  const lookahead = createLookahead(
    batch.map((item) => ({
      submission: item.decoded.kind === 'submission' ? item.decoded.submission : null,
      needs: () => needsOf(interpretNext(item, context)),
    })),
  )
  const done: InterpretedEntry[] = []
  let historyHash = head.historyHash
  while (done.length < batch.length) {
    const next = batch[done.length] as Decoded
    const interpretation = interpretNext(next, context)
    if (interpretation.kind === 'needs') {
      const { keys } = interpretation
      const more = lookahead.alongWith(done.length, keys)
      context.state.load(await context.fetch(distinct([...keys, ...more])))
      continue
    }
    const { result, delta } = interpretation
    const { offset, recordTime } = next.entry
    const { entryHash } = next
    historyHash = nextHistoryHash({ previous: historyHash, offset, recordTime, entryHash, result })
    context.state.apply(delta)
    const { synchronizerId } = context.genesis
    const activities = activityRowsOf({ offset, recordTime, synchronizerId, result })
    done.push({ offset, recordTime, historyHash, entryHash, result, delta, activities })
  }
  // The steps carry what is to be written.
  context.state.takeChanges()
  return done
}

function needsOf(interpretation: Interpretation): readonly CellKey[] {
  return interpretation.kind === 'needs' ? interpretation.keys : []
}

function interpretNext({ entry, decoded }: Decoded, context: BatchContext): Interpretation {
  const { genesis, genesisHash, state } = context
  return interpret({ entry, decoded, genesis, genesisHash, view: state })
}

function distinct(keys: readonly CellKey[]): CellKey[] {
  return [...new Map(keys.map((key) => [cellName(key), key])).values()]
}
