/**
 * The way back of a member that lacks blocks which the others do not keep any more: it lost its disk, or was away for
 * too long. Its log begins anew with a block that enough of them name, and its engine goes on behind that one. What it
 * has signed stays.
 */
import { existsSync } from 'node:fs'
import { mkdir, readdir, rm } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { type Clock, readParsed } from '@quorumscan/base'
import { writeFileAtomic } from '@quorumscan/runtime'
import { type StateSyncInput, VOTE_STATE_FILE } from '../engine-files.ts'
import { openLightSockets } from './light-sockets.ts'
import type { MemberReads, OtherMember } from './reads.ts'
import {
  type AnchorReport,
  type ChosenAnchor,
  chooseAnchor,
  readAnchorReport,
} from './sync-anchors.ts'

/** Below the engine's home: with which block the engine begins while it has none. */
const BEGINNING_FILE = 'beginning.json'
/** Below the engine's home: what it keeps. */
const DATA_DIRECTORY = 'data'
/** Whoever can get the next block has it by then. */
const STUCK_MS = 6_000
/** Between questions to the others, while nothing comes. */
const ASK_INTERVAL_MS = 10_000
/** Peers tell their snapshots, one is taken, and the block behind it comes; then another is looked for. */
const ATTEMPT_MS = 60_000
/** A log that began anew, and then stands still for so long while others go on, needs what lies before (D-70). */
const STRANDED_MS = 60_000
/** The engine takes no less than two. */
const SERVERS_MIN = 2

export async function createStateSync(options: {
  /** The engine's. */
  readonly home: string
  /** What the paths of unix sockets begin with. */
  readonly sockets: string
  readonly members: readonly OtherMember[]
  readonly memberCount: number
  readonly reads: Pick<MemberReads, 'read'>
  /** Of the newest block. */
  readonly height: () => number
  readonly restart: () => void
  /** Ends what is under way. */
  readonly signal: AbortSignal
  readonly clock: Clock
  readonly onChosen: (block: ChosenAnchor) => void
  readonly onProblem: (error: unknown, member: OtherMember) => void
}) {
  const { home, members, reads, signal, clock } = options
  const file = join(home, BEGINNING_FILE)
  let block: ChosenAnchor | null = existsSync(file) ? await readParsed(file, JSON.parse) : null
  /** Whether what the engine has is to be deleted first. */
  let isNew = false
  let chosenMs = clock.monotonicMs()
  let askedMs = Number.NEGATIVE_INFINITY
  let progress = { height: -1, sinceMs: 0 }
  let servers: AsyncDisposable | null = null

  const isWanted = () => block !== null && options.height() <= block.height
  const askAll = async (): Promise<ReadonlyMap<string, AnchorReport>> => {
    const said = new Map<string, AnchorReport>()
    const ask = async (member: OtherMember) => {
      try {
        const answer = await reads.read(member, { method: 'beginnings', params: {} }, signal)
        if ('refusal' in answer) throw new Error(answer.refusal)
        const beginnings = readAnchorReport(answer.result)
        if (beginnings === null) throw new Error('it does not say what it keeps')
        said.set(member.name, beginnings)
      } catch (error) {
        if (!signal.aborted) options.onProblem(error, member)
      }
    }
    await Promise.all(members.map(ask))
    return said
  }
  /** The sockets that lead to the members who named it. */
  const serve = async ({ members: names }: ChosenAnchor): Promise<readonly string[]> => {
    const named = members.filter(({ name }) => names.includes(name))
    const count = named.length === 0 ? 0 : Math.max(SERVERS_MIN, named.length)
    const sockets = new Map(
      Array.from({ length: count }, (_, index) => [
        `${options.sockets}.l${index}`,
        named[index % named.length] as OtherMember,
      ]),
    )
    await servers?.[Symbol.asyncDispose]()
    servers = await openLightSockets({
      sockets,
      read: (member, read) => reads.read(member, read, signal),
    })
    return [...sockets.keys()]
  }

  return {
    /** The block that the log is to begin with; null: it goes on. */
    wantedHeight: (): number | null => (isWanted() ? (block?.height ?? null) : null),
    /** Receives each look at the engine: asks the others while nothing comes, and has the engine started again. */
    async look(): Promise<void> {
      const nowMs = clock.monotonicMs()
      const height = options.height()
      if (height !== progress.height) progress = { height, sinceMs: nowMs }
      if (nowMs - progress.sinceMs < STUCK_MS || nowMs - askedMs < ASK_INTERVAL_MS) return
      if (isWanted() && nowMs - chosenMs < ATTEMPT_MS) return
      askedMs = nowMs
      const isStranded = block !== null && nowMs - progress.sinceMs >= STRANDED_MS
      const { memberCount } = options
      const chosen = chooseAnchor(await askAll(), { height, memberCount, isStranded })
      if (chosen === null) return
      options.onChosen(chosen)
      block = chosen
      isNew = true
      chosenMs = nowMs
      options.restart()
    },
    /** Before each start of the engine: what it is told of where it begins. */
    async prepare(): Promise<StateSyncInput | null> {
      if (block === null || !isWanted()) return null
      if (isNew) {
        await forgetBlocks(home)
        writeFileAtomic(file, JSON.stringify(block))
        isNew = false
      }
      const { height, blockHash } = block
      return { height, blockHash, servers: await serve(block) }
    },
    async [Symbol.asyncDispose](): Promise<void> {
      await servers?.[Symbol.asyncDispose]()
    },
  }
}

export type StateSync = Awaited<ReturnType<typeof createStateSync>>

/** All that an engine keeps but what it has signed. */
async function forgetBlocks(home: string): Promise<void> {
  const directory = join(home, DATA_DIRECTORY)
  await mkdir(directory, { recursive: true, mode: 0o700 })
  for (const name of await readdir(directory))
    if (name !== basename(VOTE_STATE_FILE))
      await rm(join(directory, name), { recursive: true, force: true })
}
