/**
 * Writes a snapshot into an empty Redis. The head is written last, so that what was loaded in part is no replica; and
 * only when the state tree that was built on the way has the root that the snapshot names.
 */
import { setImmediate } from 'node:timers/promises'
import { toHex } from '@quorumscan/base'
import type { OfferedSnapshot } from '@quorumscan/ledger'
import type { ContractId } from '@quorumscan/model'
import type { Redis } from 'ioredis'
import { type GenesisContext, syntheticEntries } from '../ingest/genesis.ts'
import { planRecords, type RecordDelta } from '../ingest/plan.ts'
import { planSyntheticEntries, syntheticFacts } from '../ingest/plan-versions.ts'
import { type WriteOutcome, writeFenced } from '../ingest/store.ts'
import { createStateKeeper, type StateKeeper } from '../state-tree/state-keeper.ts'
import { encodeHead } from '../storage/head.ts'
import { KEYS } from '../storage/keys.ts'
import { encodeInstant } from '../storage/timeline.ts'
import { createActivityLoader } from './load-activities.ts'
import { createContractLoader } from './load-contracts.ts'
import {
  createRecordReader,
  SnapshotError,
  type SnapshotHead,
  type SnapshotRecord,
} from './records.ts'
import { createWriteBehind } from './write-behind.ts'

/** Records that are worked on at a stretch, then requests get their turn: some 20 ms. */
const STRETCH_RECORDS = 1_000

/** The tree of the state that was loaded, and whether it was: somebody else may have written meanwhile. */
export type Loaded = { readonly outcome: WriteOutcome; readonly keeper: StateKeeper }

/**
 * Redis holds nothing of a replica.
 *
 * @throws {SnapshotError} If the snapshot is none of this network, or not what it says of itself, or cannot be had.
 */
export async function loadSnapshot(
  redis: Redis,
  snapshot: OfferedSnapshot,
  context: GenesisContext & { readonly signal: AbortSignal },
): Promise<Loaded> {
  const loader = createLoader(redis, snapshot, context)
  const reader = createRecordReader()
  for await (const piece of piecesOf(snapshot))
    for (const record of reader.add(piece)) if (loader.take(record)) await loader.flush()
  reader.end()
  return await loader.finish()
}

async function* piecesOf({ content }: OfferedSnapshot): AsyncGenerator<Uint8Array> {
  try {
    yield* content
  } catch (cause) {
    throw new SnapshotError('it cannot be had to its end', { cause })
  }
}

/** What was taken and not written yet. */
type Portion = {
  readonly contracts: Uint8Array[]
  readonly activities: Uint8Array[]
  readonly others: RecordDelta[]
}

function createLoader(
  redis: Redis,
  { point }: OfferedSnapshot,
  context: GenesisContext & { readonly signal: AbortSignal },
) {
  const { genesis, genesisHash, layout, signal } = context
  const keeper = createStateKeeper(genesis)
  const synthetic = syntheticEntries(genesis)
  for (const entry of synthetic) keeper.add(syntheticFacts(entry))
  const writes = createWriteBehind(redis)
  const contracts = createContractLoader({ redis, writes, layout, keeper })
  const activities = createActivityLoader(redis, writes)

  let head: SnapshotHead | null = null
  let count = 0
  let isOver = false
  const documentIds = new Map<string, readonly ContractId[]>()
  let portion: Portion = { contracts: [], activities: [], others: [] }
  let portionCount = 0

  const takeHead = (told: SnapshotHead): void => {
    const isOfPoint =
      told.offset === point.offset &&
      told.recordTime === point.recordTime &&
      told.historyHash === point.historyHash
    if (!isOfPoint || told.genesisHash !== genesisHash)
      throw new SnapshotError(
        'it is of another offset, or of another network, than it was offered as',
      )
    head = told
  }
  const headOf = (): SnapshotHead => {
    if (head === null) throw new SnapshotError('it does not begin with a head')
    return head
  }

  const flush = async (): Promise<void> => {
    signal.throwIfAborted()
    const { recordTime } = headOf()
    const taken = portion
    portion = { contracts: [], activities: [], others: [] }
    portionCount = 0
    for (const command of planRecords(taken.others, recordTime)) writes.add(...command)
    await contracts.load(taken.contracts)
    await activities.load(taken.activities)
    await writes.flow()
    await setImmediate()
  }

  return {
    /** True when it is time to write what was taken. */
    take(record: SnapshotRecord): boolean {
      if (isOver) throw new SnapshotError('it goes on behind its end')
      if (record.kind === 'head') takeHead(record.head)
      else if (record.kind === 'documents') documentIds.set(record.entity, record.ids)
      else if (record.kind === 'contract') portion.contracts.push(record.bytes)
      else if (record.kind === 'tile') activities.takeTile(record)
      else if (record.kind === 'activity') portion.activities.push(record.member)
      else if (record.kind === 'end') isOver = record.count === count
      else portion.others.push(deltaOf(record))
      count++
      return ++portionCount >= STRETCH_RECORDS
    },
    flush,
    async finish(): Promise<Loaded> {
      if (!isOver) throw new SnapshotError('it lacks its end')
      await flush()
      contracts.loadDocuments(documentIds)
      await writes.drain()
      const { stateRoot, ...place } = headOf()
      const { offset, endedCount } = place
      keeper.setActivities(activities.frontier())
      keeper.keep(place)
      keeper.moveTo(place)
      const found = keeper.kept()[0]?.point.stateRoot
      const activityCount = activities.frontier().size
      if (found !== stateRoot || activityCount !== place.activityCount)
        throw new SnapshotError(`it has the state root ${found}, not ${stateRoot}, which it names`)
      const next = encodeHead({
        ...place,
        ...{ dueHash: layout.dueHash, horizon: offset, cleanedCount: endedCount },
        state: { offset, root: stateRoot, activityCount },
      })
      const outcome = await writeFenced(redis, {
        expected: new Uint8Array(0),
        next,
        commands: [
          ...planSyntheticEntries(synthetic),
          ['RPUSH', KEYS.at, encodeInstant({ ...place, endedCount })],
        ],
        signal,
      })
      return { outcome, keeper }
    },
  }
}

/** What it adds to the state beside contracts. */
function deltaOf(
  record: Extract<SnapshotRecord, { readonly kind: 'party' | 'change' | 'seen' }>,
): RecordDelta {
  const none = { change: null, seen: null, allocated: [] }
  if (record.kind === 'party') return { ...none, allocated: [record.party] }
  const id = toHex(record.id)
  return record.kind === 'change'
    ? { ...none, change: { id, record: record.record } }
    : { ...none, seen: { id, until: record.until } }
}
