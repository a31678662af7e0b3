/** The log of a member: its application, and the engine that it belongs to. */
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { EnvError, openAll, type Resources, readKeyPair } from '@quorumscan/base'
import type { EngineConfig, EnginePeers } from '@quorumscan/config'
import { rulesOf, unknownVersion } from '@quorumscan/ledger'
import type { OrderedLog } from '@quorumscan/log'
import {
  createRateLimitedLog,
  type Peer,
  SILENT_MS_MAX,
  writeFileAtomic,
} from '@quorumscan/runtime'
import type { createAppBase } from '@quorumscan/server'
import { type CometbftOrdering, chainIdOf } from '@quorumscan/verifier'
import { followBlockVersions } from './block-versions.ts'
import { acceptForEngine, type JoinSockets } from './engine-acceptor.ts'
import { engineFiles, nodeIdOf } from './engine-files.ts'
import { createEngineLog } from './engine-log.ts'
import { type SpawnEngine, superviseEngine } from './engine-process.ts'
import { createEngineRpc, type EngineRpc } from './engine-rpc.ts'
import { NO_PEERS, refusalOf, STUCK_MS } from './engine-state.ts'
import { watchEngine } from './engine-watch.ts'
import { createMember, type MemberOptions } from './member.ts'
import { createMisbehavior } from './misbehavior.ts'
import { describeStall, reportOrdering } from './ordering-report.ts'
import { createMemberReads, createReadAnswers } from './state-sync/reads.ts'
import { createStateSync, type StateSync } from './state-sync/state-sync.ts'
import { createVotingGuard } from './voting-guard.ts'

/** Both below the engine's home. */
const MISBEHAVIOR_FILE = 'misbehavior.json'
const VERSIONS_FILE = 'block-versions.json'

type App = Awaited<ReturnType<typeof createAppBase>>

type CometbftLogOptions = Pick<
  MemberOptions,
  'checkEntry' | 'redis' | 'charge' | 'chargeSender' | 'assertRoom' | 'onGroup'
> & {
  readonly ordering: CometbftOrdering
  /** The engines that the operator names now. */
  readonly engines: () => EnginePeers
  readonly engine: EngineConfig
  /** The super-validators that the operator names, including this one. They pass requests on to other engines. */
  readonly nodes: readonly Peer[]
  readonly spawnEngine: SpawnEngine | undefined
  /** Whether an engine that hangs is ended, and started again. */
  readonly endsHungEngine: boolean
  /** How a connection of another engine reaches this member's engine; the default passes all bytes on. */
  readonly joinEngine: JoinSockets | undefined
}

/** Reads where the log ends, listens for the engine, and starts it; does not wait for it. */
export async function openCometbftLog(app: App, options: CometbftLogOptions): Promise<OrderedLog> {
  const identity = await readIdentity(options)
  const closing = new AbortController()
  const { signal } = closing
  const rpc = createEngineRpc({ socketPath: identity.sockets.engine, signal })

  return openAll(async (resources) => {
    const stopped = new Promise<void>((resolve) => resources.onClose(resolve))
    const context = { ...app, ...options, ...identity, rpc, resources, signal }
    const parts = await openMember(context, () => running.engine.restart())
    const running = await runEngine(context, parts)
    // Closed first: it ends requests to the engine.
    resources.onClose(() => closing.abort())
    const { member, misbehavior } = parts
    const { anchors } = member.retention
    return {
      append: member.append,
      evidence: misbehavior.list,
      head: member.head,
      trim: member.retention.trim,
      answerRead: createReadAnswers({ ...context, key: identity.nodeKey, anchors }),
      ...reportsOf(context, parts, running),
      finished: Promise.race([member.failed, stopped]),
    }
  })
}

/** The keys of this member, and the engines that may connect to its own. */
async function readIdentity({ engine, engines, ordering }: CometbftLogOptions) {
  const members = ordering.validators.map(({ nodeId }) => nodeId)
  const votingKey = engine.votingKeyFile === null ? null : await readKeyPair(engine.votingKeyFile)
  const own = ordering.validators.find(({ key }) => key === votingKey?.publicKey)
  if (votingKey !== null && own === undefined)
    throw new EnvError('QS_VOTING_KEY_FILE: the genesis gives this key no vote')
  const nodeKey = await readKeyPair(engine.nodeKeyFile)
  return {
    members,
    memberCount: members.length,
    votingKey,
    ownName: own?.name ?? null,
    nodeKey,
    ownId: nodeIdOf(nodeKey.publicKey),
    isPeer: (nodeId: string) => members.includes(nodeId) || engines().followers.includes(nodeId),
    sockets: { abci: `${engine.sockets}.abci`, engine: `${engine.sockets}.engine` },
  }
}

type Context = App &
  CometbftLogOptions &
  Awaited<ReturnType<typeof readIdentity>> & {
    readonly rpc: EngineRpc
    readonly resources: Resources
    /** Aborts when the log closes. */
    readonly signal: AbortSignal
  }

/** The application of the engine, and the state that it needs in addition to its blocks. */
async function openMember(context: Context, restart: () => void) {
  const { genesisHash, logger, engine, nodes, ordering, ownId, ownName, resources } = context
  const { home } = engine
  const misbehavior = await createMisbehavior({
    ...context,
    chainId: chainIdOf(genesisHash),
    file: join(home, MISBEHAVIOR_FILE),
    onFound: (evidence) => logger.error({ evidence }, `${evidence.signer} equivocates`),
  })
  const voting = createVotingGuard({ ...context, home })
  const versions = resources.opened(
    await followBlockVersions({
      ...context,
      nodeUrl: nodes.find(({ name }) => name === ownName)?.url ?? null,
      file: join(home, VERSIONS_FILE),
      onProblem: (error) =>
        logger.warn({ err: error }, "this operator's scan node does not report the block rules"),
    }),
  )
  const stateSync: StateSync = resources.opened(
    await createStateSync({
      ...context,
      home,
      sockets: engine.sockets,
      restart,
      // The members whose scan nodes are known.
      members: nodes.flatMap((node) => {
        const nodeId = ordering.validators.find(({ name }) => name === node.name)?.nodeId
        if (nodeId === undefined || nodeId === ownId) return []
        // A copy would not follow the node to another address.
        return [Object.assign(Object.create(node) as Peer, { nodeId })]
      }),
      reads: resources.opened(createMemberReads({ ...context, key: context.nodeKey })),
      height: () => member.head().height,
      onChosen: (block) =>
        logger.warn(block, 'the log begins with a later block: other members trimmed older ones'),
      onProblem: (error, { name }) =>
        logger.debug({ err: error, member: name }, 'a member does not report its stored blocks'),
    }),
  )
  const { wantedHeight } = stateSync
  const { versionAt: blockVersionAt } = versions
  const hooks = { blockVersionAt, onMisbehavior: misbehavior.note, wantedHeight }
  const member = resources.opened(await createMember({ ...context, ...hooks }))
  context.metrics.sampled('gauge', {
    name: 'ordering_first_height',
    help: 'Oldest block that the engine stores.',
    read: () => [[[], Math.max(1, member.retention.height())]],
  })
  context.metrics.sampled('gauge', {
    name: 'ordering_height',
    help: 'Newest block.',
    read: () => [[[], member.head().height]],
  })
  return { member, misbehavior, stateSync, versions, voting }
}

type MemberParts = Awaited<ReturnType<typeof openMember>>

async function runEngine(context: Context, parts: MemberParts) {
  const { clock, joinEngine, logger, resources, sockets } = context
  const { address, home, program } = context.engine
  const peers = () => context.engines().peers
  const { member, misbehavior, stateSync, voting } = parts
  const acceptor = resources.opened(await acceptForEngine({ address, join: joinEngine, clock }))
  const prepare = async () => {
    await rm(sockets.engine, { force: true }) // A killed engine leaves its socket.
    const own = { name: address, address: await acceptor.nextEngineAddress(), peers: peers() }
    const votingKey = voting.engineKey()
    const files = engineFiles({
      ...context,
      ...own,
      votingKey,
      stateSync: await stateSync.prepare(),
    })
    for (const [path, text] of Object.entries(files)) writeFileAtomic(join(home, path), text)
  }
  const onLine = createEngineLog(context)
  const onExit = (how: string) => logger.error({ how }, 'the engine exited; restarting it')
  const engine = resources.opened(
    superviseEngine({ ...context, home, program, prepare, onLine, onExit }),
  )
  const onProblem = (error: unknown) => logger.warn({ err: error }, 'an engine request failed')
  const warnWithoutPeers = createNoPeersWarning(context)
  const hasNoPeers = () => peers().length > 0 && watch.connected().length === 0
  const watch = resources.opened(
    watchEngine({
      ...context,
      peers,
      disconnect: acceptor.disconnect,
      onProblem,
      height: () => member.head().height,
      pid: engine.pid,
      onHang: context.endsHungEngine
        ? () => {
            const seconds = SILENT_MS_MAX / 1000
            logger.error(`the engine hung: it did not answer for ${seconds} s, and is ended`)
            engine.restart()
          }
        : null,
      async onReading(reading) {
        warnWithoutPeers(reading.kind === 'up' && hasNoPeers())
        if (reading.kind === 'up') await misbehavior.fetch().catch(onProblem)
        await stateSync.check()
        if (reading.kind !== 'up') return
        const isStalled = watch.state() === 'stalled'
        const { peerHeights } = reading
        if (await voting.check({ peerHeights, isStalled, member })) engine.restart()
      },
      onFailure: (error) =>
        logger.error(
          { err: error },
          "a file in the engine's directory cannot be read or written; the synchronizer tries again in 2 s",
        ),
      restart() {
        logger.warn(member.head(), 'the engine makes no progress; restarting it')
        engine.restart()
      },
    }),
  )
  return { engine, watch, hasNoPeers }
}

/** The state of ordering, for operators and for callers that submit. */
function reportsOf(
  { ordering }: Context,
  { member, stateSync, versions, voting }: MemberParts,
  { watch, hasNoPeers }: Awaited<ReturnType<typeof runEngine>>,
) {
  const refusal = () => refusalOf(watch.state(), hasNoPeers())
  const report = () => {
    const { height } = member.head()
    const [lastCommit, connected] = [member.lastCommit(), watch.connected()]
    return reportOrdering({ ordering, height, lastCommit, connected })
  }
  return {
    refusal,
    assertReady() {
      const version = versions.versionAt(member.head().recordTime)
      const error = rulesOf(version) === undefined ? unknownVersion(version) : refusal()
      if (error !== null) throw error
    },
    state: watch.state,
    ordering: report,
    detail() {
      const isStalled = watch.state() === 'stalled'
      const height = stateSync.wantedHeight()
      const sentences = [
        refusal()?.message,
        height === null
          ? null
          : `the other members trimmed the blocks that this one lacks; its log restarts at block ${height}`,
        isStalled ? describeStall(ordering, report()) : null,
        isStalled && hasNoPeers() ? NO_PEERS : null,
        voting.describe(isStalled),
      ].filter((one) => one != null)
      return sentences.length === 0 ? null : sentences.join('; ')
    },
  }
}

/** Warns when the engine has had no peers for `STUCK_MS`. The function is called at each reading of the engine. */
function createNoPeersWarning({ clock, logger }: App) {
  let noPeersSinceMs: number | null = null
  const lines = createRateLimitedLog({ clock, perSubjectMs: Number.POSITIVE_INFINITY })
  return (hasNoPeers: boolean): void => {
    if (!hasNoPeers) noPeersSinceMs = null
    else noPeersSinceMs ??= clock.monotonicMs()
    if (noPeersSinceMs === null || clock.monotonicMs() - noPeersSinceMs < STUCK_MS) lines.forget()
    else lines.write(NO_PEERS, () => logger.warn(NO_PEERS))
  }
}
