/**
 * Deletes versions that ended at or below the horizon, in bounded passes. No read that the horizon allows
 * can tell whether a pass ran (D-9). Also raises the horizon by hand.
 */
import type { Offset } from '@quorumscan/model'
import type { Redis } from 'ioredis'
import { type CommandSink, createGatheredCommands } from '../storage/commands.ts'
import { ownerOf } from '../storage/entry-body.ts'
import { KEYS } from '../storage/keys.ts'
import { partyMember, putVersions, type StoredVersions } from '../storage/plan-versions.ts'
import { type HeadState, readVersions, type WriteOutcome, writeFenced } from '../storage/store.ts'
import { decodeEnded, type Version } from '../storage/versions.ts'

/** Versions per pass: about 2 ms of Redis, which reads wait for. */
export const CLEAN_UP_PORTION = 500

/** The number of versions that a clean-up would delete now. */
export function cleanUpBacklog({ head, timeline }: HeadState): number {
  return (timeline.at(head.horizon)?.endedCount ?? 0) - head.cleanedCount
}

/** One pass. Like any write it changes the head's bytes, so that two writers never delete twice. */
export async function cleanUp(redis: Redis, headState: HeadState, signal: AbortSignal) {
  const count = Math.min(cleanUpBacklog(headState), CLEAN_UP_PORTION)
  const members = await redis.lrangeBuffer(KEYS.ended, 0, count - 1)
  const fields = { names: new Set<string>(), documents: new Set<string>() }
  for (const { kind, field } of members.map(decodeEnded)) fields[kind].add(field)
  const [names, documents] = await Promise.all([
    readVersions(redis, 'names', [...fields.names]),
    readVersions(redis, 'documents', [...fields.documents]),
  ])
  const { head } = headState
  const commands = createGatheredCommands()
  commands.addWhole('LTRIM', KEYS.ended, count, -1)
  planNames(commands, names, head.horizon)
  putVersions(commands, 'documents', readableOf(documents, head.horizon))
  const next = { ...head, cleanedCount: head.cleanedCount + count }
  return await writeFenced(redis, headState, { head: next, commands, signal })
}

function planNames(commands: CommandSink, names: StoredVersions['names'], horizon: Offset): void {
  const readable = readableOf(names, horizon)
  for (const [name, versions] of names) {
    const kept = readable.get(name) ?? []
    const owners = new Set(kept.map(({ body }) => ownerOf(body)))
    for (const owner of versions.map(({ body }) => ownerOf(body)))
      if (!owners.has(owner)) commands.add('ZREM', KEYS.parties, partyMember(owner, name))
    if (kept.length > 0) continue
    readable.delete(name)
    commands.add('HDEL', KEYS.names, name)
    commands.add('ZREM', KEYS.lex, name)
  }
  putVersions(commands, 'names', readable)
}

/** The versions that can still be read, by field. */
function readableOf(all: ReadonlyMap<string, readonly Version[]>, horizon: Offset) {
  const isReadable = ({ to }: Version) => to === null || to > horizon
  return new Map([...all].map(([field, versions]) => [field, versions.filter(isReadable)]))
}

/**
 * Moves the horizon by hand: reads below it are refused from then on (D-10). One fenced write in addition to those of
 * the ingest: the second of two writers is fenced, and ingest then loads the state again. Clean-up deletes versions
 * below the horizon with the next batches.
 *
 * @param horizon - Not above the head. One that is not above the present one changes nothing.
 */
export async function raiseHorizon(
  redis: Redis,
  headState: HeadState,
  { horizon, signal }: { readonly horizon: Offset; readonly signal: AbortSignal },
): Promise<WriteOutcome> {
  const { head } = headState
  if (horizon <= head.horizon) return 'written'
  const commands = createGatheredCommands()
  commands.addWhole('LTRIM', KEYS.at, horizon - head.horizon, -1)
  const next = { head: { ...head, horizon }, commands, signal }
  const outcome = await writeFenced(redis, headState, next)
  if (outcome === 'written') headState.timeline.dropBelow(horizon)
  return outcome
}
