/**
 * Writes a snapshot into an empty Redis. The head is written last, so that a part of a snapshot is no replica. It is
 * written only if the state tree of the loaded records has the root that the snapshot names.
 */
import { setImmediate } from 'node:timers/promises'
import type { OfferedSnapshot } from '@quorumscan/ledger'
import type { ContractId } from '@quorumscan/model'
import type { Redis } from 'ioredis'
import type { GenesisContext } from '../ingest/genesis.ts'
import { putChange } from '../ingest/plan.ts'
import { planSyntheticEntries, syntheticEntries } from '../ingest/plan-versions.ts'
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

/** Records that are loaded at once, about 20 ms of work. Then requests are served. */
const STRETCH_RECORDS = 1_000

/**
 * Redis holds nothing of a replica. Returns the tree of the state that was loaded, and whether it was: another process
 * may have written meanwhile.
 *
 * @throws {SnapshotError} If the snapshot is of another network or point, is not whole, or cannot be read to its end.
 */
export async function loadSnapshot(
  redis: Redis,
  snapshot: OfferedSnapshot,
  context: GenesisContext & { readonly signal: AbortSignal },
): Promise<{ readonly outcome: WriteOutcome; readonly keeper: StateKeeper }> {
  const { genesis, genesisHash, layout, signal } = context
  const keeper = createStateKeeper(genesis)
  const synthetic = syntheticEntries(genesis)
  for (const entry of synthetic) keeper.add(entry)
  const writes = createWriteBehind(redis)
  const contracts = createContractLoader({ redis, writes, layout, keeper })
  const activities = createActivityLoader(redis, writes)
  const reader = createRecordReader()
  const documentIds = new Map<string, readonly ContractId[]>()
  let head: SnapshotHead | null = null
  let count = 0
  let isOver = false
  /** Received and not written yet. */
  let portion = { contract: [] as Uint8Array[], activity: [] as Uint8Array[] }

  const receive = (record: SnapshotRecord): void => {
    if (isOver) throw new SnapshotError('it continues after its end')
    const { kind } = record
    if (kind === 'head') head = headOf(record.head, { ...snapshot.point, genesisHash })
    else if (kind === 'documents') documentIds.set(record.entity, record.ids)
    else if (kind === 'party') writes.add('ZADD', KEYS.hosted, 0, record.party)
    else if (kind === 'change') putChange(writes, record.id, record.record)
    else if (kind === 'seen') writes.add('ZADD', KEYS.seen, record.until, record.id)
    else if (kind === 'tile') activities.takeTile(record)
    else if (kind === 'end') isOver = record.count === count
    else portion[kind].push(record.bytes)
    count++
  }
  const flush = async (): Promise<SnapshotHead> => {
    signal.throwIfAborted()
    if (head === null) throw new SnapshotError('it does not begin with a head')
    const { contract, activity } = portion
    portion = { contract: [], activity: [] }
    await contracts.load(contract)
    await activities.load(activity)
    await writes.flow()
    await setImmediate()
    return head
  }

  for await (const piece of piecesOf(snapshot))
    for (const record of reader.add(piece)) {
      receive(record)
      if (count % STRETCH_RECORDS === 0) await flush()
    }
  reader.end()
  if (!isOver) throw new SnapshotError('it lacks its end')
  const place = await flush()
  contracts.loadDocuments(documentIds)
  await writes.drain()
  const { stateRoot, offset, endedCount } = place
  keeper.setActivities(activities.frontier())
  keeper.keep(place)
  keeper.moveTo(place)
  const found = keeper.kept()[0]?.point.stateRoot
  const activityCount = activities.frontier().size
  if (found !== stateRoot || activityCount !== place.activityCount)
    throw new SnapshotError(`it has the state root ${found}, not ${stateRoot}, which it names`)
  const commands = createGatheredCommands()
  planSyntheticEntries(commands, synthetic)
  commands.add('RPUSH', KEYS.at, encodeInstant(place))
  const stored = {
    ...place,
    dueHash: layout.dueHash,
    horizon: offset,
    cleanedCount: endedCount,
    state: { offset, root: stateRoot, activityCount },
  }
  const outcome = await writeFenced(redis, null, { head: stored, commands, signal })
  return { outcome, keeper }
}

async function* piecesOf({ content }: OfferedSnapshot): AsyncGenerator<Uint8Array> {
  try {
    yield* content
  } catch (cause) {
    throw new SnapshotError('it cannot be read to its end', { cause })
  }
}

/** The head, if it is the one that was offered. */
function headOf(
  head: SnapshotHead,
  offered: OfferedSnapshot['point'] & Pick<SnapshotHead, 'genesisHash'>,
): SnapshotHead {
  const isOffered =
    head.offset === offered.offset &&
    head.recordTime === offered.recordTime &&
    head.historyHash === offered.historyHash &&
    head.genesisHash === offered.genesisHash
  if (isOffered) return head
  throw new SnapshotError('it is of another offset, or of another network, than it was offered as')
}
