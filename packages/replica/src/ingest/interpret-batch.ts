/** Interprets entries in order against a working state, fetching what they miss in few round trips. */
import { setImmediate } from 'node:timers/promises'
import { sha256Hex } from '@quorumscan/base'
import {
  activityRowsOf,
  type CellKey,
  type ContractCodec,
  cellName,
  createContractCodec,
  type DecodedEntry,
  decodeEntry,
  type Head,
  type Interpretation,
  interpret,
  type LoadedCell,
  type LogEntry,
  nextHistoryHash,
  noticeRowsOf,
  unknownVersion,
  type WorkingState,
} from '@quorumscan/ledger'
import type { Genesis } from '@quorumscan/verifier'
import { storedRow, treeRow } from '../storage/activity-member.ts'
import { completionOf } from '../storage/completions.ts'
import type { InterpretedEntry } from '../storage/step.ts'
import { encodeUpdate, StoredUpdate } from '../storage/update-codec.ts'
import { createLookahead } from './lookahead.ts'

/**
 * Bytes of entries that are interpreted at once, 10 ms of usual entries. Then lookups are served. An entry that is made
 * to be expensive takes up to 80 ms.
 */
const STRETCH_BYTES = 64 * 1024

export type BatchContext = {
  readonly genesis: Genesis
  readonly genesisHash: string
  /** The participant whose completions and updates are stored, `1220` and 64 hex digits. Default: none. */
  readonly participant?: string
  readonly state: WorkingState
  readonly fetch: (keys: readonly CellKey[]) => Promise<readonly LoadedCell[]>
}

type Decoded = {
  readonly entry: LogEntry
  readonly entryHash: string
  readonly decoded: DecodedEntry
}

/**
 * The entries follow the head without a gap. Their effects are applied to the working state. Interpretation stops before
 * the first entry for which an unknown version of the protocol is in force.
 *
 * @throws {ScanError} SOFTWARE_OUTDATED if that is the first.
 */
export async function interpretBatch(
  entries: readonly LogEntry[],
  head: Head,
  context: BatchContext,
): Promise<InterpretedEntry[]> {
  const rest = createYieldPoint()
  const batch: Decoded[] = []
  for (const entry of entries) {
    await rest(entry)
    const decoded = decodeEntry(entry.bytes, context.genesisHash)
    const entryHash = decoded.kind === 'submission' ? decoded.entryHash : sha256Hex(entry.bytes)
    batch.push({ entry, entryHash, decoded })
  }
  const lookahead = createLookahead(
    batch.map((item) => ({
      submission: item.decoded.kind === 'submission' ? item.decoded.submission : null,
      needs: () => needsOf(interpretNext(item, context)),
    })),
  )
  const { genesis, genesisHash, participant, state } = context
  const { synchronizerId } = genesis
  const codec = createContractCodec({ genesisHash, dso: genesis.dso })
  const done: InterpretedEntry[] = []
  let historyHash = head.historyHash
  while (done.length < batch.length) {
    const next = batch[done.length] as Decoded
    await rest(next.entry)
    const interpretation = interpretNext(next, context)
    if (interpretation.kind === 'needs') {
      const { keys } = interpretation
      const more = lookahead.alongWith(done.length, keys)
      state.load(await context.fetch(distinct([...keys, ...more])))
      continue
    }
    if (interpretation.kind === 'unknown version') {
      if (done.length === 0) throw unknownVersion(interpretation.version)
      break
    }
    const { result, delta } = interpretation
    const { offset, recordTime } = next.entry
    const { entryHash } = next
    historyHash = nextHistoryHash({ previous: historyHash, offset, recordTime, entryHash, result })
    const replacedChanges = delta.changes.flatMap(({ id }) => {
      const record = state.change(id) ?? null
      return record === null ? [] : [{ id, record }]
    })
    state.apply(delta)
    const applied = { offset, recordTime, synchronizerId, result }
    const activities = activityRowsOf(applied).map((row) => treeRow(row, recordTime))
    const headAfter = { offset, recordTime, historyHash, entryHash }
    const step = { ...headAfter, result, delta, activities, replacedChanges }
    if (participant === undefined) done.push(step)
    else
      done.push({
        ...step,
        completion: completionOf(step, participant),
        update: updateOf(step, codec),
        notices: noticeRowsOf(applied).map((row) => storedRow(row, recordTime)),
      })
  }
  // The steps carry what is to be written.
  state.endBatch()
  return done
}

/** The update of an entry in a participant's history. */
function updateOf(
  step: Pick<InterpretedEntry, 'offset' | 'recordTime' | 'result' | 'delta'>,
  codec: ContractCodec,
): StoredUpdate | null {
  const { offset, recordTime, result, delta } = step
  if (result.kind !== 'accepted') return null
  const bytes = encodeUpdate({ recordTime, result, archived: delta.archived, codec })
  return new StoredUpdate(offset, bytes)
}

/** Gives way after each stretch; called before each entry. */
function createYieldPoint(): (entry: LogEntry) => Promise<void> {
  let bytes = 0
  return async (entry) => {
    bytes += entry.bytes.byteLength
    if (bytes < STRETCH_BYTES) return
    bytes = 0
    await setImmediate()
  }
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
