/** The log of a member: its application, and the engine that it belongs to. */
import { mkdir, rename, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { EnvError, type KeyPair, openAll, readKeyPair } from '@quorumscan/base'
import type { EngineConfig } from '@quorumscan/config'
import { rulesOf, unknownVersion } from '@quorumscan/ledger'
import type { OrderedLog } from '@quorumscan/log'
import { type Peer, quiet } from '@quorumscan/runtime'
import type { beginApp } from '@quorumscan/server'
import { type CometbftOrdering, chainIdOf } from '@quorumscan/verifier'
import { followBlockVersions } from './block-versions.ts'
import { acceptForEngine, type JoinSockets } from './engine-acceptor.ts'
import { engineFiles, nodeIdOf } from './engine-files.ts'
import { keepEngine, type SpawnEngine } from './engine-process.ts'
import { createEngineRpc } from './engine-rpc.ts'
import { ALONE, refusalOf, STUCK_MS } from './engine-state.ts'
import { watchEngine } from './engine-watch.ts'
import { createMember, type MemberOptions } from './member.ts'
import { createMisbehavior } from './misbehavior.ts'
import { reportOrdering } from './ordering-report.ts'
import { createReadAnswers } from './state-sync/answer-reads.ts'
import { createMemberReads, type OtherMember } from './state-sync/member-reads.ts'
import { createStateSync, type StateSync } from './state-sync/state-sync.ts'
import { createVotingGuard } from './voting-guard.ts'

/** Both below the engine's home. */
const MISBEHAVIOR_FILE = 'misbehavior.json'
const VERSIONS_FILE = 'block-versions.json'

/** Reads where the log ends, listens for the engine, and starts it; does not wait for it. */
export async function openCometbftLog(
  app: Awaited<ReturnType<typeof beginApp>>,
  options: Pick<
    MemberOptions,
    'judge' | 'redis' | 'charge' | 'chargeSender' | 'assertRoom' | 'onGroup'
  > & {
    readonly ordering: CometbftOrdering
    /** Ids of engines that the operator lets in beyond those of the genesis. */
    readonly followers: readonly string[]
    readonly engine: EngineConfig
    /** The super-validators that the operator knows, its own among them: they pass on what others are asked. */
    readonly nodes: readonly Peer[]
    readonly spawnEngine: SpawnEngine | undefined
    /** How a connection of another engine reaches the own one; the default passes all bytes on. */
    readonly joinEngine: JoinSockets | undefined
  },
): Promise<OrderedLog> {
  const { clock, genesis, genesisHash, logger } = app
  const { engine: config, ordering } = options
  const members = ordering.validators.map(({ nodeId }) => nodeId)
  const sockets = { abci: `${config.sockets}.abci`, engine: `${config.sockets}.engine` }
  const votingKey = await readKey(config.votingKeyFile)
  assertMember(votingKey, ordering)
  const nodeKey = await readKeyPair(config.nodeKeyFile)
  const ownId = nodeIdOf(nodeKey.publicKey)
  const admitted = new Set([...members, ...options.followers])
  const isPeer = (nodeId: string) => admitted.has(nodeId)
  const closing = new AbortController()
  const rpc = createEngineRpc({ socketPath: sockets.engine, signal: closing.signal })

  return openAll(async (resources) => {
    const misbehavior = await createMisbehavior({
      file: join(config.home, MISBEHAVIOR_FILE),
      write: writePrivate,
      rpc,
      genesis,
      ordering,
      chainId: chainIdOf(genesisHash),
      onFound: (evidence) => logger.error({ evidence }, `${evidence.signer} contradicts itself`),
    })
    const voting = createVotingGuard({
      ...{ home: config.home, votingKey, logger, memberCount: members.length },
      write: writePrivate,
    })
    const own = ordering.validators.find(({ key }) => key === votingKey?.publicKey)
    const versions = resources.opened(
      await followBlockVersions({
        ...app,
        nodeUrl: options.nodes.find(({ name }) => name === own?.name)?.url ?? null,
        file: join(config.home, VERSIONS_FILE),
        write: writePrivate,
        onProblem: (error) =>
          logger.warn({ err: error }, 'the own node does not say which rules hold for blocks'),
      }),
    )
    const blockVersionAt = versions.versionAt
    const reads = resources.opened(createMemberReads({ ...app, key: nodeKey }))
    const stateSync: StateSync = resources.opened(
      await createStateSync({
        ...config,
        members: otherMembers(ordering, { nodes: options.nodes, ownId }),
        memberCount: members.length,
        reads,
        height: () => member.head().height,
        write: writePrivate,
        restart: () => engine.restart(),
        signal: closing.signal,
        clock,
        onChosen: (block) => logger.warn(block, 'the log begins anew: the others do not keep more'),
        onProblem: (error, { name }) =>
          logger.debug({ err: error, member: name }, 'a member does not say what it keeps'),
      }),
    )
    const member = resources.opened(
      await createMember({
        ...{ ...app, ...options, sockets, rpc, isPeer, blockVersionAt, nodeKey },
        onMisbehavior: misbehavior.note,
        wantedHeight: stateSync.wantedHeight,
      }),
    )
    const { retention } = member
    app.metrics.sampled('gauge', {
      name: 'ordering_first_height',
      help: 'Oldest block that the engine keeps.',
      read: () => [[[], Math.max(1, retention.height())]],
    })
    const { address } = config
    const acceptor = resources.opened(
      await acceptForEngine({ address, join: options.joinEngine, clock }),
    )
    const prepare = async () => {
      await rm(sockets.engine, { force: true }) // What one that was killed has left.
      const files = engineFiles({
        ...config,
        name: address,
        address: await acceptor.nextEngineAddress(),
        genesis,
        genesisHash,
        ordering,
        sockets,
        nodeKey,
        votingKey: voting.engineKey(),
        stateSync: await stateSync.prepare(),
      })
      for (const [path, text] of Object.entries(files))
        await writePrivate(join(config.home, path), text)
    }
    const engine = resources.opened(
      keepEngine({
        ...config,
        isHeard: app.logger.isLevelEnabled('error'),
        prepare,
        spawnEngine: options.spawnEngine,
        clock,
        onEnd: (how) => logger.error({ how }, 'the engine ended; it is started again'),
      }),
    )
    const onProblem = (error: unknown) =>
      logger.warn({ err: error }, 'the engine did not do as it was told')
    const warnOfLoneliness = createLonelyWarning(app)
    const isAlone = () => config.peers.length > 0 && watch.connected().length === 0
    const watch = resources.opened(
      watchEngine({
        rpc,
        peers: config.peers,
        members,
        height: () => member.head().height,
        async onReading(reading) {
          warnOfLoneliness(reading.kind === 'up' && isAlone())
          if (reading.kind === 'up') await misbehavior.look().catch(onProblem)
          await stateSync.look()
          if (reading.kind !== 'up') return
          const isStalled = watch.state() === 'stalled'
          const { peerHeights } = reading
          if (await voting.look({ peerHeights, isStalled, member })) engine.restart()
        },
        onFailure: (error) =>
          logger.error(
            { err: error },
            'a file beside the engine cannot be read or written; the synchronizer tries again in 2 s',
          ),
        restart() {
          logger.warn(member.head(), 'the engine stands still; it is started anew')
          engine.restart()
        },
        clock,
        onProblem,
      }),
    )
    // The first to be closed: what the engine is asked ends.
    resources.opened({ [Symbol.asyncDispose]: async () => closing.abort() })
    const refusal = () => refusalOf(watch.state(), isAlone())
    let stop = () => {}
    const stopped = new Promise<void>((resolve) => {
      stop = resolve
    })
    return {
      append: member.append,
      evidence: misbehavior.list,
      head: member.head,
      trim: retention.trim,
      answerRead: createReadAnswers({
        ...{ genesisHash, key: nodeKey, ownId, isPeer, rpc, clock },
        offered: retention.offered,
      }),
      refusal,
      assertReady() {
        const version = blockVersionAt(member.head().recordTime)
        const error = rulesOf(version) === undefined ? unknownVersion(version) : refusal()
        if (error !== null) throw error
      },
      state: watch.state,
      ordering: () =>
        reportOrdering({
          ordering,
          height: member.head().height,
          lastCommit: member.lastCommit(),
          connected: watch.connected(),
        }),
      detail() {
        const isStalled = watch.state() === 'stalled'
        const sentences = [
          refusal()?.message,
          describeBeginning(stateSync.wantedHeight()),
          isStalled ? describeStall(watch.connected().length, members.length) : null,
          isStalled && isAlone() ? ALONE : null,
          voting.describe(isStalled),
        ].filter((one) => one != null)
        return sentences.length === 0 ? null : sentences.join('; ')
      },
      finished: Promise.race([member.failed, stopped]),
      async [Symbol.asyncDispose]() {
        await resources[Symbol.asyncDispose]()
        stop()
      },
    }
  })
}

function describeStall(connected: number, memberCount: number): string {
  return `nothing is ordered: ${connected} other engines are connected, and ${memberCount} are members`
}

function describeBeginning(height: number | null): string | null {
  if (height === null) return null
  return `the others do not keep what this one lacks: its log begins anew with block ${height}, which it fetches`
}

/** Those whose scan nodes are known. */
function otherMembers(
  { validators }: CometbftOrdering,
  { nodes, ownId }: { readonly nodes: readonly Peer[]; readonly ownId: string },
): readonly OtherMember[] {
  return nodes.flatMap((node) => {
    const nodeId = validators.find(({ name }) => name === node.name)?.nodeId
    return nodeId === undefined || nodeId === ownId ? [] : [{ ...node, nodeId }]
  })
}

/** Warns once the engine was without any other for long. The function receives each look. */
function createLonelyWarning({ clock, logger }: Awaited<ReturnType<typeof beginApp>>) {
  let aloneSinceMs: number | null = null
  const lines = quiet({ clock, perSubjectMs: Number.POSITIVE_INFINITY })
  return (isAlone: boolean): void => {
    if (!isAlone) aloneSinceMs = null
    else aloneSinceMs ??= clock.monotonicMs()
    if (aloneSinceMs === null || clock.monotonicMs() - aloneSinceMs < STUCK_MS) lines.forget()
    else lines.write(ALONE, () => logger.warn(ALONE))
  }
}

async function readKey(file: string | null): Promise<KeyPair | null> {
  return file === null ? null : await readKeyPair(file)
}

/** @throws {EnvError} If the genesis gives this key no vote. */
function assertMember(key: KeyPair | null, { validators }: CometbftOrdering): void {
  if (key !== null && !validators.some((validator) => validator.key === key.publicKey))
    throw new EnvError('QS_VOTING_KEY_FILE: the genesis gives this key no vote')
}

/** Half of a file is none: of what was signed in particular. */
async function writePrivate(path: string, text: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 })
  const temporary = `${path}.new`
  await writeFile(temporary, text, { mode: 0o600, flush: true })
  await rename(temporary, path)
}
