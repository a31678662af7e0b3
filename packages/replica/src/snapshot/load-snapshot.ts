/**
 * Writes a snapshot into an empty Redis. The head is written last, so that a part of a snapshot is not a replica. It is
 * written only if the state tree of the loaded records has the root that the snapshot names.
 */

import { setImmediate } from 'node:timers/promises'
import { sha256 } from '@quorumscan/base'
import type { PeerSnapshot, Total } from '@quorumscan/ledger'
import type { Contract, ContractId } from '@quorumscan/model'
import type { Genesis } from '@quorumscan/verifier'
import { append, EMPTY_FRONTIER, type Frontier } from '@quorumscan/verifier/state-tree'
import type { Redis } from 'ioredis'
import { createStateHistory, type StateHistory } from '../state-tree/state-history.ts'
import { decodeActivity, leafHashOf, treeIndexOf } from '../storage/activity-member.ts'
import {
  putTiles,
  putTilesBefore,
  readFrontier,
  type TileBefore,
  type WholeSubtree,
} from '../storage/activity-tiles.ts'
import { putChange } from '../storage/change-records.ts'
import { createGatheredCommands } from '../storage/commands.ts'
import { KEYS } from '../storage/keys.ts'
import type { Layout } from '../storage/layout.ts'
import { putContract } from '../storage/plan-contracts.ts'
import { putRow } from '../storage/plan-histories.ts'
import {
  beginEntry,
  documentVersion,
  planSyntheticEntries,
  putNames,
  putVersions,
  syntheticEntries,
  versionFieldOf,
} from '../storage/plan-versions.ts'
import { readVersions, type WriteOutcome, writeFenced } from '../storage/store.ts'
import { encodeTimelineEntry } from '../storage/timeline.ts'
import { changeTotal, putTotals } from '../storage/totals.ts'
import type { Version } from '../storage/versions.ts'
import {
  createRecordReader,
  SnapshotError,
  type SnapshotHead,
  type SnapshotRecord,
} from './records.ts'
import { createWriteBehind, type WriteBehind } from './write-behind.ts'

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
  snapshot: PeerSnapshot,
  network: {
    readonly genesis: Genesis
    readonly genesisHash: string
    readonly layout: Layout
    readonly signal: AbortSignal
  },
): Promise<{ readonly outcome: WriteOutcome; readonly history: StateHistory }> {
  const { genesis, genesisHash, layout, signal } = network
  const history = createStateHistory(genesis)
  const synthetic = syntheticEntries(genesis)
  for (const entry of synthetic) history.add(entry)
  const writes = createWriteBehind(redis)
  const contracts = createContractLoader({ redis, writes, layout, history })
  const activities = createActivityLoader(redis, writes)
  const reader = createRecordReader()
  const documentIds = new Map<string, readonly ContractId[]>()
  let head: SnapshotHead | null = null
  let count = 0
  let isOver = false
  /** Received and not written yet. */
  let portion = { contract: [] as Uint8Array[], activity: [] as Uint8Array[] }

  const receive = (record: SnapshotRecord): void => {
    if (isOver) throw new SnapshotError('the snapshot continues after its end record')
    const { kind } = record
    if (kind === 'head') head = headOf(record.head, { ...snapshot.point, genesisHash })
    else if (kind === 'documents') documentIds.set(record.entity, record.ids)
    else if (kind === 'party') writes.add('ZADD', KEYS.hosted, 0, record.party)
    else if (kind === 'change') putChange(writes, record.id, record.record)
    else if (kind === 'seen') writes.add('ZADD', KEYS.seen, record.until, record.id)
    else if (kind === 'tile') activities.addTile(record)
    else if (kind === 'end') isOver = record.count === count
    else portion[kind].push(record.bytes)
    count++
  }
  const flush = async (): Promise<SnapshotHead> => {
    signal.throwIfAborted()
    if (head === null) throw new SnapshotError('the snapshot does not begin with a head')
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
  if (!isOver) throw new SnapshotError('the snapshot has no end record, or lacks records before it')
  const loaded = await flush()
  contracts.loadTotals()
  contracts.loadDocuments(documentIds)
  await writes.drain()
  const { stateRoot, offset, endedCount } = loaded
  history.setActivities(activities.frontier())
  history.commit(loaded)
  history.moveTo(loaded)
  const found = history.recent()[0]?.point.stateRoot
  const activityCount = activities.frontier().size
  if (found !== stateRoot || activityCount !== loaded.activityCount)
    throw new SnapshotError(
      `the records of the snapshot of offset ${offset} have the state root ${found}, but its head has ${stateRoot}`,
    )
  const commands = createGatheredCommands()
  planSyntheticEntries(commands, synthetic)
  commands.add('RPUSH', KEYS.at, encodeTimelineEntry(loaded))
  const { dueHash } = layout
  const state = { offset, root: stateRoot, activityCount }
  const stored = { ...loaded, dueHash, horizon: offset, cleanedCount: endedCount, state }
  const outcome = await writeFenced(redis, null, { head: stored, commands, signal })
  return { outcome, history }
}

async function* piecesOf({ content }: PeerSnapshot): AsyncGenerator<Uint8Array> {
  try {
    yield* content
  } catch (cause) {
    throw new SnapshotError('the snapshot could not be read to its end', { cause })
  }
}

/** The head, if it is the one that was offered. */
function headOf(
  head: SnapshotHead,
  offered: PeerSnapshot['point'] & Pick<SnapshotHead, 'genesisHash'>,
): SnapshotHead {
  const isOffered =
    head.offset === offered.offset &&
    head.recordTime === offered.recordTime &&
    head.historyHash === offered.historyHash &&
    head.genesisHash === offered.genesisHash
  if (isOffered) return head
  throw new SnapshotError('the snapshot is of another offset or network than it was offered for')
}

export function createContractLoader(context: {
  readonly redis: Redis
  readonly writes: WriteBehind
  readonly layout: Layout
  readonly history: Pick<StateHistory, 'add' | 'setDocuments'>
}) {
  const { redis, writes, layout, history } = context
  const names = new Set<string>()
  const totals = new Map<string, Total>()
  const documents = new Map<
    ContractId,
    { readonly contract: Contract; readonly body: Uint8Array }
  >()

  return {
    async load(all: readonly Uint8Array[]): Promise<void> {
      const begun: Contract[] = []
      /** Names that have two or more entries: expired ones, and the one that followed. */
      const reusedNames: string[] = []
      for (const body of all) {
        const filed = layout.codec.decodeFiled(body)
        const { contract } = filed
        putContract(filed, body, { commands: writes, layout })
        for (const entry of filed.amounts) changeTotal(totals, entry, 1)
        const found = versionFieldOf(contract)
        if (found?.kind === 'documents') documents.set(contract.contractId, { contract, body })
        if (found?.kind !== 'names') continue
        begun.push(contract)
        if (names.has(found.field)) reusedNames.push(found.field)
      }
      if (reusedNames.length > 0) await writes.drain()
      const versions = await readVersions(redis, 'names', reusedNames)
      const entries = begun.map((contract) => beginEntry(versions, contract))
      for (const entry of entries) {
        names.add(entry.name)
        history.add(entry)
      }
      putNames(writes, versions, entries)
    },
    /** Called after all contracts are loaded. */
    loadTotals: () => putTotals(writes, totals),
    /** Called after all contracts are loaded, with those in force that lookups read, by entity, newest first. */
    loadDocuments(idsByEntity: ReadonlyMap<string, readonly ContractId[]>): void {
      const contracts = new Map<string, readonly Contract[]>()
      const versions = new Map<string, readonly Version[]>()
      for (const [entity, ids] of idsByEntity) {
        const found = ids.flatMap((id) => documents.get(id) ?? [])
        if (found.length < ids.length)
          throw new SnapshotError(`the snapshot lacks a contract of ${entity}`)
        contracts.set(
          entity,
          found.map(({ contract }) => contract),
        )
        versions.set(
          entity,
          found.map(({ contract, body }) => documentVersion(contract, body)),
        )
      }
      history.setDocuments(contracts)
      putVersions(writes, 'documents', versions)
    },
  }
}

export function createActivityLoader(redis: Redis, writes: WriteBehind) {
  const tiles: TileBefore[] = []
  let frontier: Frontier | null = null

  const frontierBefore = async (row: number): Promise<Frontier> => {
    putTilesBefore(writes, tiles, row)
    await writes.drain()
    return await readFrontier(redis, row)
  }

  return {
    /** Adds a tile. All tiles precede the first row. */
    addTile(tile: TileBefore): void {
      tiles.push(tile)
    },
    async load(members: readonly Uint8Array[]): Promise<void> {
      const whole: WholeSubtree[] = []
      for (const member of members) {
        const row = decodeActivity(member)
        frontier ??= await frontierBefore(treeIndexOf(row))
        frontier = append(frontier, leafHashOf(row), sha256, (subtree, hash) =>
          whole.push({ subtree, hash }),
        )
        putRow(writes, 'activities', member, row)
      }
      putTiles(writes, whole)
    },
    /** The tree of the rows that were loaded. */
    frontier: (): Frontier => frontier ?? EMPTY_FRONTIER,
  }
}
