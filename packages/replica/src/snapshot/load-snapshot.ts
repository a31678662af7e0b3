/**
 * Writes a snapshot into an empty Redis. The head is written last, so that what was loaded in part is no replica; and
 * only when the state tree that was built on the way has the root that the snapshot names.
 */
import { setImmediate } from 'node:timers/promises'
import { assert, sha256, toHex } from '@quorumscan/base'
import {
  append,
  EMPTY_FRONTIER,
  type Frontier,
  hashActivity,
  type Subtree,
} from '@quorumscan/consensus/state-tree'
import type { OfferedSnapshot } from '@quorumscan/ledger'
import type { Contract, ContractId } from '@quorumscan/model'
import type { Redis } from 'ioredis'
import { type GenesisContext, syntheticEntries } from '../ingest/genesis.ts'
import { planRecords, type RecordDelta } from '../ingest/plan.ts'
import { planContracts } from '../ingest/plan-contracts.ts'
import {
  DOCUMENT_ENTITIES,
  entryFacts,
  planSyntheticEntries,
  planVersions,
  putVersions,
  syntheticFacts,
} from '../ingest/plan-versions.ts'
import { entityOf } from '../ingest/step.ts'
import { readVersions, type WriteOutcome, writeFenced } from '../ingest/store.ts'
import { createStateKeeper, type StateKeeper } from '../state-tree/state-keeper.ts'
import { activityPartyMember, decodeActivity } from '../storage/activity-member.ts'
import {
  planTiles,
  planTilesBefore,
  readFrontier,
  type TileBefore,
} from '../storage/activity-tiles.ts'
import { encodeHead } from '../storage/head.ts'
import { KEYS } from '../storage/keys.ts'
import { type Command, cutCommand, toRedis } from '../storage/scripts.ts'
import { encodeInstant } from '../storage/timeline.ts'
import type { Version } from '../storage/versions.ts'
import {
  createRecordReader,
  SnapshotError,
  type SnapshotHead,
  type SnapshotRecord,
} from './records.ts'

/** Contracts or rows that are worked on at a stretch, then lookups get their turn: some 20 ms. */
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

function createLoader(
  redis: Redis,
  { point }: OfferedSnapshot,
  context: GenesisContext & { readonly signal: AbortSignal },
) {
  const { genesis, genesisHash, layout, signal } = context
  const keeper = createStateKeeper(genesis)
  const synthetic = syntheticEntries(genesis)
  for (const entry of synthetic) keeper.add(syntheticFacts(entry))

  let head: SnapshotHead | null = null
  let count = 0
  let isOver = false
  const documentIds = new Map<string, readonly ContractId[]>()
  const documents = new Map<ContractId, Contract>()
  const names = new Set<string>()
  let tiles: TileBefore[] = []
  let frontier: Frontier | null = null
  let portion: SnapshotRecord[] = []
  let sending: Promise<void> = Promise.resolve()

  const send = async (commands: readonly Command[]): Promise<void> => {
    const pipeline = redis.pipeline()
    for (const [name, key, ...args] of commands) pipeline.call(name, key, ...args.map(toRedis))
    for (const [error] of (await pipeline.exec()) ?? []) if (error !== null) throw error
  }
  /** The next portion is made while Redis works on this one. */
  const put = async (commands: readonly Command[]): Promise<void> => {
    await sending
    sending = send(commands)
    sending.catch(() => {}) // Whoever waits for it next is told.
  }

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

  const planNames = async (entries: readonly Contract[]): Promise<Command[]> => {
    const fields = entries.map((contract) => entryFacts(contract).name)
    // One that has expired, and the one that followed it.
    const again = fields.filter((name) => names.has(name))
    if (again.length > 0) await sending
    const stored = { names: await readVersions(redis, 'names', again), documents: new Map() }
    for (const name of fields) names.add(name)
    const steps = entries.map((contract) => ({
      offset: contract.offset,
      delta: { created: [contract], archived: [] },
    }))
    return planVersions(steps, { stored, codec: layout.codec }).commands
  }

  const planState = async (records: readonly SnapshotRecord[]): Promise<Command[]> => {
    const bytesOf = new Map(
      records.flatMap((record) =>
        record.kind === 'contract' ? [[layout.codec.decode(record.bytes), record.bytes]] : [],
      ),
    )
    const created = [...bytesOf.keys()]
    // They are written as they came.
    const encode = (contract: Contract) => bytesOf.get(contract) ?? layout.codec.encode(contract)
    const entries: Contract[] = []
    for (const contract of created) {
      const entity = entityOf(contract)
      if (DOCUMENT_ENTITIES.has(entity)) documents.set(contract.contractId, contract)
      if (entity !== 'AnsEntry') continue
      entries.push(contract)
      keeper.add(entryFacts(contract))
    }
    const deltas = records.flatMap((record) => deltaOf(record) ?? [])
    return [
      ...planContracts([{ delta: { created, archived: [] } }], {
        ...layout,
        codec: { ...layout.codec, encode },
      }),
      ...(await planNames(entries)),
      ...planRecords(deltas, headOf().recordTime),
    ]
  }

  const planRows = async (records: readonly SnapshotRecord[]): Promise<Command[]> => {
    const members = records.flatMap((record) => (record.kind === 'activity' ? [record.member] : []))
    const rows = members.map(decodeActivity)
    const [first] = rows
    if (first === undefined) return []
    if (frontier === null) {
      assert(first.index !== null, 'a row has its place in the tree')
      await put(planTilesBefore(tiles, first.index))
      await sending
      frontier = await readFrontier(redis, first.index)
    }
    const whole: { subtree: Subtree; hash: Uint8Array }[] = []
    for (const { eventId, recordTime, body } of rows) {
      const leaf = hashActivity({ eventId, recordTime, rowHash: sha256(body) }, sha256)
      frontier = append(frontier, leaf, sha256, (subtree, hash) => whole.push({ subtree, hash }))
    }
    return [
      ...cutCommand(
        'ZADD',
        KEYS.activities,
        members.map((member) => [0, member]),
      ),
      ...cutCommand(
        'ZADD',
        KEYS.activityParties,
        rows.flatMap(({ tags, eventId }) =>
          tags.map((tag) => [0, activityPartyMember(tag, eventId)]),
        ),
      ),
      ...cutCommand(
        'ZADD',
        KEYS.activityTimes,
        rows.map(({ recordTime, eventId }) => [recordTime, offsetOf(eventId)]),
      ),
      ...planTiles(whole),
    ]
  }

  const headOf = (): SnapshotHead => {
    if (head === null) throw new SnapshotError('it does not begin with a head')
    return head
  }

  const flush = async (): Promise<void> => {
    signal.throwIfAborted()
    const records = portion
    portion = []
    await put([...(await planState(records)), ...(await planRows(records))])
    await setImmediate()
  }

  const planDocuments = (): Command[] => {
    const byEntity = new Map<string, readonly Contract[]>()
    for (const [entity, ids] of documentIds)
      byEntity.set(
        entity,
        ids.map((id) => {
          const contract = documents.get(id)
          if (contract === undefined) throw new SnapshotError(`it lacks a contract of ${entity}`)
          return contract
        }),
      )
    keeper.setDocuments(byEntity)
    const versionOf = (contract: Contract): Version => ({
      ...{ from: contract.offset, to: null, expires: null },
      body: layout.codec.encode(contract),
    })
    return putVersions(
      'documents',
      new Map([...byEntity].map(([entity, contracts]) => [entity, contracts.map(versionOf)])),
    )
  }

  return {
    /** True when it is time to write what was taken. */
    take(record: SnapshotRecord): boolean {
      if (isOver) throw new SnapshotError('it goes on behind its end')
      if (record.kind === 'head') takeHead(record.head)
      else if (record.kind === 'documents') documentIds.set(record.entity, record.ids)
      else if (record.kind === 'tile') tiles = [...tiles, record]
      else if (record.kind === 'end') isOver = record.count === count
      else portion.push(record)
      count++
      return portion.length >= STRETCH_RECORDS
    },
    flush,
    async finish(): Promise<Loaded> {
      if (!isOver) throw new SnapshotError('it lacks its end')
      await flush()
      await sending
      const { stateRoot, ...place } = headOf()
      const { offset, endedCount } = place
      const documents = planDocuments()
      keeper.setActivities(frontier ?? EMPTY_FRONTIER)
      keeper.keep(place)
      keeper.moveTo(place)
      const found = keeper.kept()[0]?.point.stateRoot
      const activityCount = frontier?.size ?? 0
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
          ...documents,
          ...planSyntheticEntries(synthetic),
          ['RPUSH', KEYS.at, encodeInstant({ ...place, endedCount })],
        ],
        signal,
      })
      return { outcome, keeper }
    },
  }
}

/** What it adds to the state beside contracts; undefined for nothing. */
function deltaOf(record: SnapshotRecord): RecordDelta | undefined {
  switch (record.kind) {
    case 'party':
      return { change: null, seen: null, allocated: [record.party] }
    case 'change':
      return {
        change: { id: toHex(record.id), record: record.record },
        ...{ seen: null, allocated: [] },
      }
    case 'seen':
      return { change: null, seen: { id: toHex(record.id), until: record.until }, allocated: [] }
  }
  return undefined
}

/** As in event ids. */
function offsetOf(eventId: string): string {
  return eventId.slice(0, eventId.indexOf(':'))
}
