/**
 * Takes versions that ended at or below the horizon out of Redis, in bounded passes. No read that the
 * horizon allows can tell whether a pass ran (D-9).
 */
import type { Redis } from 'ioredis'
import { partyMember, putVersions } from '../ingest/plan-versions.ts'
import { type Mirror, readVersions, type WriteOutcome, writeFenced } from '../ingest/store.ts'
import { type Command, cutCommand } from '../storage/commands.ts'
import { decodeEnded } from '../storage/ended.ts'
import { ownerOf } from '../storage/entry-body.ts'
import { encodeHead } from '../storage/head.ts'
import { KEYS } from '../storage/keys.ts'
import type { Version } from '../storage/versions.ts'

/** Versions per pass: about 2 ms of Redis, which reads wait for. */
export const CLEAN_UP_PORTION = 500

/** How many versions a clean-up would take out now. */
export function cleanUpBacklog({ head, timeline }: Mirror): number {
  return (timeline.at(head.horizon)?.endedCount ?? 0) - head.cleanedCount
}

/** One pass. Like any write it moves the head's bytes on, so that two writers never take out twice. */
export async function cleanUp(
  redis: Redis,
  mirror: Mirror,
  signal: AbortSignal,
): Promise<WriteOutcome> {
  const count = Math.min(cleanUpBacklog(mirror), CLEAN_UP_PORTION)
  const members = await redis.lrangeBuffer(KEYS.ended, 0, count - 1)
  const ended = members.map(decodeEnded)
  const fieldsOf = (kind: 'names' | 'documents') => [
    ...new Set(ended.flatMap((version) => (version.kind === kind ? [version.field] : []))),
  ]
  const [names, documents] = await Promise.all([
    readVersions(redis, 'names', fieldsOf('names')),
    readVersions(redis, 'documents', fieldsOf('documents')),
  ])
  const { horizon } = mirror.head
  const next = { ...mirror.head, cleanedCount: mirror.head.cleanedCount + count }
  const outcome = await writeFenced(redis, {
    expected: encodeHead(mirror.head),
    next: encodeHead(next),
    commands: [
      ['LTRIM', KEYS.ended, count, -1],
      ...planNames(names, horizon),
      ...planDocuments(documents, horizon),
    ],
    signal,
  })
  if (outcome === 'written') mirror.head = next
  return outcome
}

function planNames(names: ReadonlyMap<string, readonly Version[]>, horizon: number): Command[] {
  const kept = new Map<string, readonly Version[]>()
  const gone: string[] = []
  const parties: Uint8Array[] = []
  for (const [name, versions] of names) {
    const readable = versions.filter((version) => isReadable(version, horizon))
    const owners = new Set(readable.map((version) => ownerOf(version.body)))
    for (const version of versions) {
      const owner = ownerOf(version.body)
      if (!owners.has(owner)) parties.push(partyMember(owner, name))
    }
    if (readable.length === 0) gone.push(name)
    else kept.set(name, readable)
  }
  return [
    ...putVersions('names', kept),
    ...cutCommand(
      'HDEL',
      KEYS.names,
      gone.map((name) => [name]),
    ),
    ...cutCommand(
      'ZREM',
      KEYS.lex,
      gone.map((name) => [name]),
    ),
    ...cutCommand(
      'ZREM',
      KEYS.parties,
      parties.map((member) => [member]),
    ),
  ]
}

function planDocuments(
  documents: ReadonlyMap<string, readonly Version[]>,
  horizon: number,
): Command[] {
  const readable = [...documents].map(
    ([entity, versions]) =>
      [entity, versions.filter((version) => isReadable(version, horizon))] as const,
  )
  return putVersions('documents', new Map(readable))
}

function isReadable(version: Version, horizon: number): boolean {
  return version.to === null || version.to > horizon
}
