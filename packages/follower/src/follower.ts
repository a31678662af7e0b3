/**
 * Opens what every follower of the log works with, node or validator, in the order in which each needs the ones before:
 * the clocks of its peers, snapshots, the replica, the certifier, the client of the log. Nothing is applied before
 * `follow` is called: the process decides through which ordering it follows.
 */
import { type KeyPair, openAll, toHex, withResolvers } from '@quorumscan/base'
import { createCertifier } from '@quorumscan/certifier'
import { readLogClientOptions, type ScanConfig } from '@quorumscan/config'
import { isScanError, ScanError } from '@quorumscan/errors'
import { type Ordering, payloadOf, scanAddress } from '@quorumscan/ledger'
import {
  createGroupStore,
  createLogClient,
  createOrderingClient,
  watchLogDisk,
} from '@quorumscan/log'
import { type RedisAddress, readRedisAddress, watchRedis } from '@quorumscan/redis'
import { measureReplica, openReplica, type ReplicaState } from '@quorumscan/replica'
import {
  assertFollowing,
  createPeerClient,
  createPeerClocks,
  type Logger,
  measureRedis,
  type Peer,
  type PeerClient,
  type PeerClocks,
  type PeerTokens,
  watchRedisMemory,
} from '@quorumscan/runtime'
import type { App } from '@quorumscan/server'
import { createSnapshotStore, type SnapshotStore } from '@quorumscan/snapshots'
import { type Evidence, memberSetOf } from '@quorumscan/verifier'
import { createMemberHealth } from './member-health.ts'

export type Follower = Awaited<ReturnType<typeof openFollower>>

/** `diverged`: it must prove nothing. `clock-off`: by the clocks of f + 1 members, its own is too far off. */
export type FollowerState = ReplicaState | 'diverged' | 'clock-off'

type FollowerOptions = {
  readonly config: Pick<ScanConfig, 'redis' | 'log' | 'connections'>
  /** The members other than the process itself. */
  readonly peers: readonly Peer[]
  /** Members whose statements make certificates. Default: all. */
  readonly signers?: readonly Peer[]
  /** Tokens that the process has with peers, by their origins. */
  readonly peerTokenByOrigin?: PeerTokens
  readonly allowPrivateAddresses?: boolean
  /** The member whose keys the process has: it signs states, takes snapshots and stores the newest groups. null: a validator. */
  readonly member: {
    readonly name: string
    readonly scanKey: KeyPair
    readonly snapshotDirectory: string | null
  } | null
  /** The participant whose updates the replica stores; `member` is null. */
  readonly participant?: string
  /** Jobs whose due work the replica reports. */
  readonly dueJobs: readonly string[]
  /** Called if the stored replica has another layout; resolves once it has called `deleteStored`. */
  readonly rebuild: (
    deleteStored: () => Promise<unknown>,
    parts: {
      readonly client: PeerClient
      readonly clocks: PeerClocks
      readonly redis: RedisAddress
      readonly snapshots: SnapshotStore
    },
  ) => Promise<void>
  /** Receives evidence that the certifier finds. Default: logged. */
  readonly onEvidence?: (evidence: Evidence) => void
}

/**
 * @throws {ScanError} DEPENDENCY_UNAVAILABLE if Redis does not answer.
 * @throws {EnvError} If a file does not hold what it must.
 */
export async function openFollower(app: App, options: FollowerOptions) {
  const { clock, random, genesis, genesisHash, logger, metrics, trust, certificates } = app
  const { config, peers, member, allowPrivateAddresses = false } = options
  const { participant, peerTokenByOrigin, onEvidence } = options
  const logOptions = readLogClientOptions(config, { clock, logger })
  const redis = await readRedisAddress(config.redis)
  const set = memberSetOf(genesis)
  /** f + 1: among this number of members at least one is honest. */
  const needed = set.f + 1
  return openAll(async (resources) => {
    const clocks = resources.opened(
      createPeerClocks({ peers, needed, clock, logger, metrics, trust, allowPrivateAddresses }),
    )
    const client = resources.opened(
      createPeerClient({ clock, trust, ...(peerTokenByOrigin && { peerTokenByOrigin }) }),
    )
    const directory = member?.snapshotDirectory ?? null
    const own =
      member === null || directory === null
        ? null
        : { name: member.name, sign: member.scanKey.sign, directory }
    const snapshots: SnapshotStore = resources.opened(
      await createSnapshotStore({
        genesis,
        genesisHash,
        own,
        peers,
        client,
        clock,
        logger,
        metrics,
      }),
    )
    const replica = resources.opened(
      await openReplica({
        redis,
        genesis,
        genesisHash,
        dueJobs: options.dueJobs,
        clock,
        ...(participant !== undefined && { participant }),
        snapshots,
        onProblem: (err) => logProblem(logger, err),
        rebuild: (deleteStored) =>
          options.rebuild(deleteStored, { client, clocks, redis, snapshots }),
      }),
    )
    clocks.follow(async () => {
      const addresses = await replica.lookups.documentsAsOf('ScanAddress', replica.head().offset)
      return addresses.map((contract) => payloadOf(scanAddress, contract))
    })
    const usage = resources.opened(watchRedis(redis))
    measureRedis(metrics, usage)
    const memory = resources.opened(await watchRedisMemory({ redis: usage, clock, metrics }))
    const self = member && {
      name: member.name,
      sign: (statement: Uint8Array) => toHex(member.scanKey.sign(statement)),
    }
    const signers = new Set((options.signers ?? set.members).map(({ name }) => name))
    const certifier = resources.opened(
      createCertifier({
        genesis,
        genesisHash,
        self,
        peers,
        signers,
        endpointsOf: clocks.endpointsOf,
        replica: replica.proofs,
        client,
        clock,
        logger,
        metrics,
        ...(onEvidence && { onEvidence }),
      }),
    )
    /** `live` if and only if `assertReady` does not throw. Automation continues with expired certificates. */
    const state = (): FollowerState => {
      if (certifier.isDiverged()) return 'diverged'
      return clocks.isUsable() ? replica.state() : 'clock-off'
    }
    const isLive = () => state() === 'live'
    const members = createMemberHealth({
      set,
      self: member && {
        name: member.name,
        isReady: () => isLive() && certificates.areValid(),
      },
      clocks,
      progress: certifier.progress,
      metrics,
    })
    measureReplica(metrics, replica, { clock, isLive })
    const groups =
      member &&
      resources.opened(
        createGroupStore({
          redis,
          memoryBytesMax: () => memory.use()?.maxBytes ?? null,
          onProblem: (err) =>
            logger.warn({ err }, 'the newest groups of the log could not be stored'),
        }),
      )
    const log = resources.opened(createLogClient({ ...logOptions, tracer: app.tracer }))
    const logDisk = resources.opened(watchLogDisk({ log, clock, metrics }))
    const ordering: Ordering = createOrderingClient({
      log,
      genesis: { ...genesis, hash: genesisHash },
      ...(groups && { store: groups.store }),
      clock,
      random,
      onProblem: (err) => logger.warn({ err }, 'the stream of the log failed; opening another one'),
    })
    /** @throws {ScanError} NOT_READY, CLOCK_OFF, LOG_REGRESSED or SOFTWARE_OUTDATED. */
    const assertLive = (): void => {
      clocks.assertUsable()
      assertFollowing(member === null ? 'validator' : 'node', replica)
    }
    return {
      needed,
      redis,
      memory,
      clocks,
      snapshots,
      replica,
      certifier,
      log,
      logDisk,
      ordering,
      state,
      isLive,
      /** The health of each member, as this process judges it. */
      members,
      /**
       * Applies the log in the background, through the ordering that is passed.
       *
       * @returns The background work of the process: opened last, it ends before what it works with is closed.
       */
      follow(through: Ordering): Background {
        const background = createBackground(logger)
        const run = async (): Promise<void> => {
          await replica.run(through, background.signal)
          const err = replica.haltReason()
          // Reads continue at this head; `/readyz` reports why it does not advance.
          if (err !== null) logger.error({ err }, 'the replica applies no further entries')
        }
        background.run('the replica stopped and the process ends', run())
        return background
      },
      assertLive,
      /** @throws {ScanError} NOT_READY before everything is applied that `needed` peers have applied, if any is known. */
      assertCaughtUpWithPeers(): void {
        if (options.peers.length === 0) return
        const heads = clocks.readings().flatMap((peer) => peer.head ?? [])
        const head = heads.sort((a, b) => b - a)[needed - 1]
        if (head !== undefined && replica.head().offset >= head) return
        const sentence = 'The validator waits until it has applied what the nodes have applied.'
        const details = { state: 'starting' }
        throw new ScanError('NOT_READY', sentence, { details, retryAfterSeconds: 1 })
      },
      /** @throws {ScanError} As `assertLive`; STATE_DIVERGED, LOG_FORK: the process must prove nothing. */
      assertReady(): void {
        clocks.assertUsable()
        certifier.assertNotDiverged()
        assertLive()
      },
    }
  })
}

/** Disposing aborts the work and waits for its end. Opened last, so that it ends before what it works with is closed. */
export type Background = ReturnType<typeof createBackground>

export function createBackground(logger: Logger) {
  const closing = new AbortController()
  const running: Promise<unknown>[] = []
  const { promise: failed, resolve: fail } = withResolvers<unknown>()
  return {
    /** Resolves with the error of the first work that failed: the process cannot continue without it. */
    failed,
    /** Aborts when the process stops: what the work rejects with from then on is not a failure. */
    signal: closing.signal as AbortSignal,
    /** @param failure - The line of the log if the work rejects before `signal` aborts. */
    run(failure: string, work: Promise<unknown>): void {
      const watched = work.catch((error: unknown) => {
        if (closing.signal.aborted) return
        logger.fatal({ err: error }, failure)
        fail(error)
      })
      running.push(watched)
    },
    async [Symbol.asyncDispose](): Promise<void> {
      closing.abort(new ScanError('NOT_READY', 'The process is stopping.'))
      await Promise.all(running)
    },
  }
}

/** Logs why ingest waits, or that the stored state differs from the log (D-49). */
export function logProblem(logger: Pick<Logger, 'warn' | 'error'>, err: Error): void {
  if (isScanError(err, 'STATE_DIVERGED')) {
    const what =
      'this process answers no lookups until its replica is wiped (`quorumscan replica wipe`), and rebuilt'
    logger.error({ err }, `the stored state differs from the log; ${what}`)
  } else logger.warn({ err }, 'the replica cannot apply the log now')
}
