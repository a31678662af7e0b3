/**
 * Repairs a log: reads it and the groups that its followers stored, and writes the repaired log into another
 * Redis. The damaged log is only read. `repair-plan.ts` decides what to write.
 */

import { sha256, toHex } from '@quorumscan/base'
import type { Micros, Offset } from '@quorumscan/model'
import type { RedisAddress } from '@quorumscan/redis'
import {
  idOf,
  type LogConnection,
  type LogStart,
  lastOffsetOf,
  openLogConnection,
  type RawGroup,
} from './connection.ts'
import { type LogGenesis, LogGroupError, openGroup, type SignedGroup } from './group.ts'
import { LogUnavailableError } from './log-errors.ts'
import type { StoredGroup } from './recent-groups.ts'
import {
  type Follower,
  type GroupLink,
  type LogPart,
  type OffsetRange,
  planRepair,
  type RepairStep,
} from './repair-plan.ts'
import { iterateLog, verifyLog } from './verify.ts'

/** At most 32 MiB at once. */
const GROUPS_PER_WRITE = 32

/** A node that stored groups of the log. */
export type GroupHolder = {
  readonly name: string
  /** What its replica has applied; null: not known. */
  readonly head: Offset | null
  /** Reads the stored groups up to its head. @throws {LogUnavailableError} If it does not answer. */
  readonly readStored: () => Promise<Iterable<StoredGroup>>
}

export type RepairOptions = {
  readonly redis: RedisAddress
  readonly genesis: LogGenesis
  /** Replicas do not apply later record times yet. */
  readonly latest: Micros
  readonly nodes: readonly GroupHolder[]
  /** Followers that store no groups. */
  readonly others: readonly Pick<GroupHolder, 'name' | 'head'>[]
  /** How many nodes may lie or be dead. */
  readonly f: number
  readonly signal: AbortSignal
}

/**
 * Plans the repair and changes nothing. No process may append to the log until the repair is finished.
 *
 * @throws {LogUnavailableError} If the log's Redis goes down.
 */
export async function prepareRepair(options: RepairOptions) {
  const { redis, genesis, signal, f } = options
  const parts = await survey(options)
  const trimmed = await startOf(redis, signal)
  const start = trimmed ?? { offset: 0, hash: genesis.hash }
  /** The stored copies of each group, by hash. Their bytes are equal; a signature may be damaged. */
  const copies = new Map<string, StoredGroup[]>()
  const nodes: Follower[] = []
  for (const node of options.nodes) {
    const stored = await storedBy(node)
    const groups = [...(stored ?? [])].map((copy) => {
      const hash = toHex(sha256(copy.bytes))
      const others = copies.get(hash) ?? []
      copies.set(hash, [...others, { ...copy, bytes: others[0]?.bytes ?? copy.bytes }])
      const { firstOffset, lastOffset, previousHash } = copy
      return { firstOffset, lastOffset, previousHash, hash }
    })
    const head = stored === null ? null : node.head
    const hasOtherHistory = await followedOtherLog(groups, parts, options)
    nodes.push({ name: node.name, head, groups, hasOtherHistory })
  }
  const others = options.others.map((one) => ({ ...one, groups: [], hasOtherHistory: false }))
  const plan = planRepair({ start, parts, nodes, others, f })
  return {
    plan,
    /** Whether the log has no group and was never trimmed: either it is new, or its files are elsewhere. */
    isEmpty: parts.length === 0 && trimmed === null,
    /**
     * Writes the repaired log into an empty Redis and verifies it to its end.
     *
     * @throws {LogGroupError} If what was written does not verify.
     * @throws {LogUnavailableError}
     */
    async write(target: RedisAddress): Promise<void> {
      if (plan.kind === 'refused') throw new Error('the log cannot be repaired')
      await writeSteps(target, plan.steps)
      const { end, damages } = await verifyLog({ redis: target, genesis, signal })
      if (end !== plan.end || damages.length > 0)
        throw new LogGroupError('chain', `the repaired log is not whole up to ${plan.end}`)
    },
  }

  async function writeSteps(target: RedisAddress, steps: readonly RepairStep[]): Promise<void> {
    using connection = await openLogConnection(target, { signal })
    using source = await openLogConnection(redis, { signal })
    if (trimmed !== null) await connection.trim(trimmed)
    let refills: RawGroup[] = []
    const flush = async () => {
      await connection.add(refills)
      refills = []
    }
    for (const step of steps) {
      if (step.kind === 'refill') {
        refills.push(signedCopy(copies.get(step.group.hash) ?? [], genesis))
        if (refills.length === GROUPS_PER_WRITE) await flush()
      } else {
        await flush()
        await copyRange(source, connection, step)
      }
    }
    await flush()
  }
}

async function startOf(redis: RedisAddress, signal: AbortSignal): Promise<LogStart | null> {
  using connection = await openLogConnection(redis, { signal })
  return await connection.start()
}

/** Null if the node does not answer. */
async function storedBy({ head, readStored }: GroupHolder): Promise<Iterable<StoredGroup> | null> {
  if (head === null) return null
  return await readStored().catch((error: unknown) => {
    if (error instanceof LogUnavailableError) return null
    throw error
  })
}

async function survey(options: RepairOptions) {
  const parts: LogPart[] = []
  for await (const { damages, group } of iterateLog(options)) {
    for (const { from, to } of damages) {
      const last = parts.at(-1)
      if (last?.kind === 'damaged') parts[parts.length - 1] = { ...last, to }
      else parts.push({ kind: 'damaged', from, to })
    }
    if (group !== null) addGroup(parts, group, options.latest)
  }
  return parts
}

function addGroup(parts: LogPart[], group: SignedGroup, latest: Micros): void {
  const { firstOffset: from, lastOffset: to, previousHash, hash, entries } = group
  const recordTime = entries[0]?.recordTime ?? 0
  const kind = recordTime > latest ? 'ahead' : 'whole'
  const last = parts.at(-1)
  if (last !== undefined && last.kind === kind) parts[parts.length - 1] = { ...last, to, hash }
  else parts.push({ kind, from, to, previousHash, hash, recordTime })
}

/**
 * Whether the node followed another log: where its newest group that lies in a readable part ends,
 * the log has different bytes.
 */
async function followedOtherLog(
  groups: readonly GroupLink[],
  parts: readonly LogPart[],
  options: RepairOptions,
): Promise<boolean> {
  const newest = groups
    .toSorted((one, other) => other.lastOffset - one.lastOffset)
    .find(({ lastOffset }) =>
      parts.some(
        ({ kind, from, to }) => kind !== 'damaged' && from <= lastOffset && lastOffset <= to,
      ),
    )
  if (newest === undefined) return false
  using connection = await openLogConnection(options.redis, options)
  const [raw] = await connection.range(newest.lastOffset, 1)
  return raw === undefined || toHex(sha256(raw.bytes)) !== newest.hash
}

async function copyRange(source: LogConnection, target: LogConnection, { from, to }: OffsetRange) {
  for (let next = from; next <= to; ) {
    const portion = await source.range(next, GROUPS_PER_WRITE)
    const inside = portion.filter((raw) => lastOffsetOf(raw) <= to)
    const last = inside.at(-1)
    if (last === undefined)
      throw new LogUnavailableError(`offset ${next} disappeared from the log during the copy`)
    await target.add(inside)
    next = lastOffsetOf(last) + 1
  }
}

/** The group as an element of the log. @throws {LogGroupError} If no copy has the synchronizer's signature. */
function signedCopy(copies: readonly StoredGroup[], genesis: LogGenesis): RawGroup {
  let failure: unknown = new LogGroupError('malformed', 'no node has stored the group')
  for (const { bytes, signature } of copies)
    try {
      const group = openGroup({ bytes, signature }, genesis)
      return { id: idOf(group.lastOffset), bytes, signature }
    } catch (error) {
      failure = error
    }
  throw failure
}
