/** The log of a member: its application, and the engine that it belongs to. */
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { EnvError, openAll, readKeyPair } from '@quorumscan/base'
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
import { type CometbftOrdering, chainIdOf, memberSetOf } from '@quorumscan/verifier'
import { type BlockVersions, followBlockVersions } from './block-versions.ts'
import { acceptForEngine, type JoinSockets } from './engine-acceptor.ts'
import { engineFiles, nodeIdOf } from './engine-files.ts'
import { createEngineLog } from './engine-log.ts'
import { type Engine, type SpawnEngine, superviseEngine } from './engine-process.ts'
import { createEngineRpc } from './engine-rpc.ts'
import { NO_PEERS, refusalOf, STUCK_MS } from './engine-state.ts'
import { type EngineWatch, watchEngine } from './engine-watch.ts'
import { createMember, type Member, type MemberOptions } from './member.ts'
import { createMisbehavior } from './misbehavior.ts'
import { describeStall, reportOrdering } from './ordering-report.ts'
import { createMemberReads, createReadAnswers, otherMembers } from './state-sync/reads.ts'
import { createStateSync, type StateSync } from './state-sync/state-sync.ts'
import { createVotingGuard, type VotingGuard } from './voting-guard.ts'

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

/**
 * Reads where the log ends, listens for the engine, and starts it; does not wait for it. The parts are in the order in
 * which they start. Until the engine runs, nothing asks for what follows it in this list.
 */
export async function openCometbftLog(app: App, options: CometbftLogOptions): Promise<OrderedLog> {
  const { clock, genesis, genesisHash, logger, metrics, random, trust } = app
  const { checkEntry, engine: config, nodes, ordering } = options
  const { home } = config
  const { nodeKey, ownName, votingKey } = await readIdentity(config, ordering)
  const members = ordering.validators.map(({ nodeId }) => nodeId)
  const set = memberSetOf(genesis)
  const ownId = nodeIdOf(nodeKey.publicKey)
  const peers = () => options.engines().peers
  const isPeer = (nodeId: string) =>
    members.includes(nodeId) || options.engines().followers.includes(nodeId)
  const sockets = { abci: `${config.sockets}.abci`, engine: `${config.sockets}.engine` }
  const closing = new AbortController()
  const { signal } = closing
  const rpc = createEngineRpc({ socketPath: sockets.engine, signal })

  return openAll(async (resources) => {
    const stopped = new Promise<void>((resolve) => resources.onClose(resolve))
    const misbehavior = await createMisbehavior({
      file: join(home, MISBEHAVIOR_FILE),
      rpc,
      genesis,
      ordering,
      chainId: chainIdOf(genesisHash),
      onFound: (evidence) => logger.error({ evidence }, `${evidence.signer} equivocates`),
    })
    const voting = createVotingGuard({ home, votingKey, set, logger })
    const versions = resources.opened(
      await followBlockVersions({
        node: nodes.find(({ name }) => name === ownName) ?? null,
        file: join(home, VERSIONS_FILE),
        genesis,
        trust,
        clock,
        onProblem: (error) =>
          logger.warn({ err: error }, "this operator's scan node does not report the block rules"),
      }),
    )
    const reads = resources.opened(
      createMemberReads({ genesisHash, key: nodeKey, trust, clock, random }),
    )
    const stateSync = resources.opened(
      await createStateSync({
        home,
        sockets: config.sockets,
        members: otherMembers(nodes, { ordering, ownId }),
        set,
        reads,
        height: () => member.head().height,
        restart: () => engine.restart(),
        signal,
        clock,
        onChosen: (block) =>
          logger.warn(block, 'the log begins with a later block: other members trimmed older ones'),
        onProblem: (error, { node }) =>
          logger.debug(
            { err: error, member: node.name },
            'a member does not report its stored blocks',
          ),
      }),
    )
    const member: Member = resources.opened(
      await createMember({
        genesis,
        genesisHash,
        ordering,
        nodeKey,
        sockets,
        redis: options.redis,
        rpc,
        checkEntry,
        isPeer,
        charge: options.charge,
        chargeSender: options.chargeSender,
        assertRoom: options.assertRoom,
        blockVersionAt: versions.versionAt,
        onMisbehavior: misbehavior.note,
        wantedHeight: stateSync.wantedHeight,
        onGroup: options.onGroup,
        clock,
        random,
        logger,
      }),
    )
    measureMember(metrics, member)
    const acceptor = resources.opened(
      await acceptForEngine({ address: config.address, join: options.joinEngine, clock }),
    )
    const engine: Engine = resources.opened(
      superviseEngine({
        program: config.program,
        home,
        onLine: createEngineLog({ clock, logger }),
        async prepare() {
          await rm(sockets.engine, { force: true }) // A killed engine leaves its socket.
          const files = engineFiles({
            name: config.address,
            genesis,
            ordering,
            genesisHash,
            votingKey: voting.engineKey(),
            nodeKey,
            sockets,
            address: await acceptor.nextEngineAddress(),
            peers: peers(),
            stateSync: await stateSync.prepare(),
          })
          for (const [path, text] of Object.entries(files)) writeFileAtomic(join(home, path), text)
        },
        spawnEngine: options.spawnEngine,
        clock,
        onExit: (how) => logger.error({ how }, 'the engine exited; restarting it'),
      }),
    )
    const onProblem = (error: unknown) => logger.warn({ err: error }, 'an engine request failed')
    const hasNoPeers = () => peers().length > 0 && watch.connected().length === 0
    const warnWithoutPeers = createNoPeersWarning({ clock, logger })
    const watch: EngineWatch = resources.opened(
      watchEngine({
        rpc,
        peers,
        isPeer,
        disconnect: acceptor.disconnect,
        members,
        set,
        height: () => member.head().height,
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
        pid: engine.pid,
        onHang: options.endsHungEngine
          ? () => {
              const seconds = SILENT_MS_MAX / 1000
              logger.error(`the engine hung: it did not answer for ${seconds} s, and is ended`)
              engine.restart()
            }
          : null,
        clock,
        onProblem,
      }),
    )
    // Closed first: it ends requests to the engine.
    resources.onClose(() => closing.abort())

    const { retention } = member
    return {
      append: member.append,
      evidence: misbehavior.list,
      head: member.head,
      trim: retention.trim,
      answerRead: createReadAnswers({
        key: nodeKey,
        ownId,
        isPeer,
        genesisHash,
        rpc,
        anchors: retention.anchors,
        clock,
      }),
      ...reportsOf({ ordering, member, stateSync, versions, voting, watch, hasNoPeers }),
      finished: Promise.race([member.failed, stopped]),
    }
  })
}

/** The keys of this member, and its name in the genesis; null: it has no vote. */
async function readIdentity(engine: EngineConfig, ordering: CometbftOrdering) {
  const votingKey = engine.votingKeyFile === null ? null : await readKeyPair(engine.votingKeyFile)
  const own = ordering.validators.find(({ key }) => key === votingKey?.publicKey)
  if (votingKey !== null && own === undefined)
    throw new EnvError('QS_VOTING_KEY_FILE: the genesis gives this key no vote')
  const nodeKey = await readKeyPair(engine.nodeKeyFile)
  return { votingKey, ownName: own?.name ?? null, nodeKey }
}

function measureMember(metrics: App['metrics'], { head, retention }: Member): void {
  metrics.sampled('gauge', {
    name: 'ordering_first_height',
    help: 'Oldest block that the engine stores.',
    read: () => [[[], Math.max(1, retention.height())]],
  })
  metrics.sampled('gauge', {
    name: 'ordering_height',
    help: 'Newest block.',
    read: () => [[[], head().height]],
  })
}

/** The state of ordering, for operators and for callers that submit. */
function reportsOf(parts: {
  readonly ordering: CometbftOrdering
  readonly member: Member
  readonly stateSync: StateSync
  readonly versions: BlockVersions
  readonly voting: VotingGuard
  readonly watch: EngineWatch
  readonly hasNoPeers: () => boolean
}) {
  const { ordering, member, stateSync, versions, voting, watch, hasNoPeers } = parts
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
function createNoPeersWarning({ clock, logger }: Pick<App, 'clock' | 'logger'>) {
  let noPeersSinceMs: number | null = null
  const lines = createRateLimitedLog({ clock, perSubjectMs: Number.POSITIVE_INFINITY })
  return (hasNoPeers: boolean): void => {
    if (!hasNoPeers) noPeersSinceMs = null
    else noPeersSinceMs ??= clock.monotonicMs()
    if (noPeersSinceMs === null || clock.monotonicMs() - noPeersSinceMs < STUCK_MS) lines.forget()
    else lines.write(NO_PEERS, () => logger.warn(NO_PEERS))
  }
}
