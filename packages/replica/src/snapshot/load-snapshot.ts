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
import { putRecords } from '../ingest/plan.ts'
import { planSyntheticEntries, syntheticFacts } from '../ingest/plan-versions.ts'
import { type WriteOutcome, writeFenced } from '../ingest/store.ts'
import { createStateKeeper, type StateKeeper } from '../state-tree/state-keeper.ts'
import { createGatheredCommands } from '../storage/commands.ts'
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

/**
 * Redis holds nothing of a replica. Returns the tree of the state that was loaded, and whether it was: another process
 * may have written meanwhile.
 *
 * @throws {SnapshotError} If the snapshot is none of this network, or not what it says of itself, or cannot be had.
 */
export async function loadSnapshot(
  redis: Redis,
  snapshot: OfferedSnapshot,
  context: GenesisContext & { readonly signal: AbortSignal },
): Promise<{ readonly outcome: WriteOutcome; readonly keeper: StateKeeper }> {
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
  /** What was taken and not written yet. */
  const none = () => ({ contracts: [] as Uint8Array[], activities: [] as Uint8Array[] })
  let portion = none()
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
    headOf()
    const taken = portion
    portion = none()
    portionCount = 0
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
      else putRecords(writes, deltaOf(record), headOf().recordTime)
      count++
      return ++portionCount >= STRETCH_RECORDS
    },
    flush,
    async finish() {
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
      const head = {
        ...place,
        dueHash: layout.dueHash,
        horizon: offset,
        cleanedCount: endedCount,
        state: { offset, root: stateRoot, activityCount },
      }
      const commands = createGatheredCommands()
      planSyntheticEntries(commands, synthetic)
      commands.add('RPUSH', KEYS.at, encodeInstant({ ...place, endedCount }))
      const outcome = await writeFenced(redis, null, { head, commands, signal })
      return { outcome, keeper }
    },
  }
}

/** What it adds to the state in addition to contracts. */
function deltaOf(
  record: Extract<SnapshotRecord, { readonly kind: 'party' | 'change' | 'seen' }>,
): Parameters<typeof putRecords>[1] {
  if (record.kind === 'party') return { allocated: [record.party] }
  const id = toHex(record.id)
  if (record.kind === 'change') return { change: { id, record: record.record } }
  return { seen: { id, until: record.until } }
}
