/**
 * Recovery of a member that lacks blocks that the others have deleted: it lost its disk, or was down for too long. Its
 * log starts from scratch with a sync anchor, a block that enough of them name, and its engine continues after it. The
 * record of what it has signed stays. The engine asks all that named the anchor. One that is silent for 150 ms is replaced
 * (`askInTurn`). If the engine does not get there, it asks one of them alone, in turn, so that one that signs garbage is
 * left out.
 */
import { existsSync } from 'node:fs'
import { mkdir, readdir, rm } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { type Clock, openAll, readParsed } from '@quorumscan/base'
import { askInTurn, createPenalties, writeFileAtomic } from '@quorumscan/runtime'
import type { MemberSet } from '@quorumscan/verifier'
import { type StateSyncInput, VOTE_STATE_FILE } from '../engine-files.ts'
import type { EngineAnswer, EngineRead } from './engine-read.ts'
import { openLightSocket } from './light-sockets.ts'
import type { MemberReads, OtherMember } from './reads.ts'
import {
  type AnchorReport,
  type ChosenAnchor,
  chooseAnchor,
  readAnchorReport,
} from './sync-anchors.ts'

/** The file, below the engine's home, with the block from which the engine starts while it has none. */
const SYNC_ANCHOR_FILE = 'beginning.json'
/** The directory, below the engine's home, with what it stores. */
const DATA_DIRECTORY = 'data'
/** A member that can get the next block has it by then. */
const STUCK_MS = 6_000
/** The time between two requests to the others, while no block arrives. */
const ASK_INTERVAL_MS = 10_000
/** Peers list their snapshots, the engine applies one, and the next block comes. After this another anchor is chosen. */
const ATTEMPT_MS = 60_000
/** A log that started with an anchor, and then stalls for so long while others continue, needs an older one (D-70). */
const STRANDED_MS = 60_000
/** The engine takes no less than two. */
const SERVERS_MIN = 2

export async function createStateSync(options: {
  /** The engine's. */
  readonly home: string
  /** What the paths of unix sockets begin with. */
  readonly sockets: string
  readonly members: readonly OtherMember[]
  readonly set: Pick<MemberSet, 'f'>
  readonly reads: Pick<MemberReads, 'read'>
  /** The height of the newest block. */
  readonly height: () => number
  readonly restart: () => void
  /** Ends requests in flight. */
  readonly signal: AbortSignal
  readonly clock: Clock
  readonly onChosen: (block: ChosenAnchor) => void
  readonly onProblem: (error: unknown, member: OtherMember) => void
}) {
  const { home, members, reads, signal, clock } = options
  const penalties = createPenalties<OtherMember>(clock)
  const file = join(home, SYNC_ANCHOR_FILE)
  let block: ChosenAnchor | null = existsSync(file) ? await readParsed(file, JSON.parse) : null
  /** Whether the blocks of the engine are deleted before its next start. */
  let mustDeleteBlocks = false
  let chosenMs = clock.monotonicMs()
  /** Attempts since the last block. */
  let failedCount = 0
  let askedMs = Number.NEGATIVE_INFINITY
  let progress = { height: -1, sinceMs: 0 }
  let servers: AsyncDisposable | null = null

  const isWanted = () => block !== null && options.height() <= block.height
  const askAll = async (): Promise<ReadonlyMap<string, AnchorReport>> => {
    const reports = new Map<string, AnchorReport>()
    const ask = async (member: OtherMember) => {
      try {
        const answer = await reads.read(member, { method: 'beginnings', params: {} }, signal)
        if ('refusal' in answer) throw new Error(answer.refusal)
        const report = readAnchorReport(answer.result)
        if (report === null) throw new Error('it does not report its stored blocks')
        reports.set(member.node.name, report)
      } catch (error) {
        if (!signal.aborted) options.onProblem(error, member)
      }
    }
    await Promise.all(members.map(ask))
    return reports
  }
  /**
   * The answer of the first of these members, or of another one if that is silent. They need no trust: the light client
   * verifies all headers from the anchor on. A refusal is passed on if no member answers.
   */
  const readAny = async (sources: readonly OtherMember[], read: EngineRead) => {
    let refusal: EngineAnswer | null = null
    const found = await askInTurn<OtherMember, EngineAnswer>({
      sources,
      penalties,
      clock,
      signal,
      async ask(member, ending) {
        const answer = await reads.read(member, read, ending)
        if (!('refusal' in answer)) return { kind: 'proven', answer }
        refusal ??= answer
        return { kind: 'unable' }
      },
    })
    return found?.answer ?? refusal ?? { refusal: 'no member answers' }
  }
  /** The sockets that lead to the members who named it, each to another one first. */
  const serve = async ({ members: names }: ChosenAnchor): Promise<readonly string[]> => {
    const all = members.filter(({ node }) => names.includes(node.name))
    const turn = (failedCount - 1) % all.length
    const named = failedCount === 0 ? all : all.slice(turn, turn + 1)
    const count = named.length === 0 ? 0 : Math.max(SERVERS_MIN, named.length)
    const paths = Array.from({ length: count }, (_, index) => `${options.sockets}.l${index}`)
    await servers?.[Symbol.asyncDispose]()
    servers = await openAll(async (resources) => {
      for (const [index, path] of paths.entries()) {
        const turn = index % named.length
        const sources = [...named.slice(turn), ...named.slice(0, turn)]
        resources.opened(await openLightSocket(path, (read) => readAny(sources, read)))
      }
      return {}
    })
    return paths
  }

  return {
    /** The height of the block that the log must start with; null: it continues. */
    wantedHeight: (): number | null => (isWanted() ? (block?.height ?? null) : null),
    /** Called at each reading of the engine: asks the others while no block comes, and restarts the engine. */
    async check(): Promise<void> {
      const nowMs = clock.monotonicMs()
      const height = options.height()
      if (height !== progress.height) progress = { height, sinceMs: nowMs }
      if (nowMs - progress.sinceMs < STUCK_MS || nowMs - askedMs < ASK_INTERVAL_MS) return
      if (isWanted() && nowMs - chosenMs < ATTEMPT_MS) return
      askedMs = nowMs
      const isStranded = block !== null && nowMs - progress.sinceMs >= STRANDED_MS
      const { set } = options
      const chosen = chooseAnchor(await askAll(), { height, set, isStranded })
      if (chosen === null) return
      options.onChosen(chosen)
      failedCount = isWanted() ? failedCount + 1 : 0
      block = chosen
      mustDeleteBlocks = true
      chosenMs = nowMs
      options.restart()
    },
    /** Called before each start of the engine: where it starts. */
    async prepare(): Promise<StateSyncInput | null> {
      if (block === null || !isWanted()) return null
      if (mustDeleteBlocks) {
        await forgetBlocks(home)
        writeFileAtomic(file, JSON.stringify(block))
        mustDeleteBlocks = false
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

/** Deletes all files of an engine, except the record of what it has signed. */
async function forgetBlocks(home: string): Promise<void> {
  const directory = join(home, DATA_DIRECTORY)
  await mkdir(directory, { recursive: true, mode: 0o700 })
  for (const name of await readdir(directory))
    if (name !== basename(VOTE_STATE_FILE))
      await rm(join(directory, name), { recursive: true, force: true })
}
