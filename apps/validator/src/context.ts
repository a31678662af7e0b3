/** Everything that the handlers work with, opened in order and closed in the opposite one. */
import { createVerifier, FIRST_ADMIN_USER, type VerifierConfig } from '@quorumscan/auth'
import { fromHex, openAll, readKeyPair, readParsed, sha256 } from '@quorumscan/base'
import { createCertifier } from '@quorumscan/certifier'
import type { ValidatorConfig } from '@quorumscan/config'
import { readLogClientOptions } from '@quorumscan/config'
import { ScanError } from '@quorumscan/errors'
import { Jobs, measureJobs, measureQueues, QUEUES_OF, walletJobs } from '@quorumscan/jobs'
import { NEWEST_RULES, payloadOf, readProtocol, scanAddress } from '@quorumscan/ledger'
import { createLedgerReads, Dispatcher, participantIdOf } from '@quorumscan/ledger-api'
import { createLogClient, createLogReader, type LogRoom, watchLogRoom } from '@quorumscan/log'
import { type Micros, participantOfKey, partyParticipant } from '@quorumscan/model'
import type { Fork } from '@quorumscan/reader'
import { createCertifiedReader } from '@quorumscan/reader/certified'
import { createReader } from '@quorumscan/reader/voted'
import { readRedisAddress, watchRedis } from '@quorumscan/redis'
import { measureProtocol, measureReplica, Replica, stateDiverged } from '@quorumscan/replica'
import {
  assertFollowing,
  createBackground,
  createFetch,
  createPeerClocks,
  createUndiciTransport,
  measureMargins,
  measureRedis,
  type PeerClocks,
  parseOriginTokens,
  quiet,
  REPLICA_STOPPED,
  tracedTransport,
} from '@quorumscan/runtime'
import {
  createEvidenceKeeper,
  createReadFloor,
  followEvidence,
  localHistoryHash,
} from '@quorumscan/scan-proxy'
import { type AppOverrides, beginApp, type HttpServer } from '@quorumscan/server'
import { createSnapshotStore } from '@quorumscan/snapshots'
import { createCommander, createSubmitter } from '@quorumscan/submit'
import { ValidatorStore } from '@quorumscan/users'
import { maxFaulty, quorumOf } from '@quorumscan/verifier'
import {
  createKeptUsers,
  createPartyQueue,
  forgetEndedRenewals,
  hasOperatorParty,
  OPERATOR_RETRY_MS,
  payDueRenewal,
  registerOperator,
} from '@quorumscan/wallet'
import { createReadMetrics } from './metrics.ts'
import { createPrivateNodes } from './private-nodes.ts'
import { watchSecondMachine } from './second-machine.ts'

/** D-38: what a proxied read may take. */
const PROXY_WAIT_MS = 2000
/** Between lines about one alarm. */
const ALARM_MS = 60_000
/** A wish for a name that is gone takes some 200 bytes and does no harm. */
const FORGET_RENEWALS_MS = 3_600_000

export type Overrides = AppOverrides & {
  /** Called when everything is there, before the process listens: may add to the server. */
  readonly extend?: (parts: { readonly server: HttpServer; readonly context: Context }) => void
}

export type Context = Awaited<ReturnType<typeof createContext>>

/** Opens connections and starts to follow the log. @throws {ScanError} DEPENDENCY_UNAVAILABLE. */
export async function createContext(config: ValidatorConfig, overrides: Overrides = {}) {
  const app = await beginApp('validator', config, overrides)
  const { clock, random, logger, metrics, genesis, genesisHash } = app
  const peerTokenByOrigin = await readParsed(config.nodeTokensFile, parseOriginTokens)
  const keyPair = await readKeyPair(config.participantKeyFile)
  const participant = participantOfKey(keyPair.publicKey)
  const verifier = createVerifier(await verifierConfig(config), {
    clock,
    fetch: createFetch(app.trust),
    onKeysUnavailable: (err) =>
      logger.warn({ err }, 'the keys for tokens cannot be fetched from QS_JWKS_URL'),
  })
  const logOptions = await readLogClientOptions(config)

  /** One of so many nodes is honest. */
  const needed = maxFaulty(genesis.nodes.length) + 1
  return openAll(async (resources) => {
    const clocks = resources.opened(
      createPeerClocks({
        ...app,
        peers: config.nodes,
        needed,
        allowPrivateAddresses: config.allowPrivateAddresses,
      }),
    )
    const redis = await readRedisAddress(config.redis)
    const store = resources.opened(
      await ValidatorStore.create({
        redis,
        genesisHash,
        onUnchecked: (sentence) => logger.warn(sentence),
      }),
    )
    const snapshots = resources.opened(
      await createSnapshotStore({ ...app, own: null, peers: config.nodes, peerTokenByOrigin }),
    )
    const replica = resources.opened(
      await Replica.create({
        redis,
        genesis,
        genesisHash,
        participant,
        dueJobs: walletJobs.map(({ name }) => name),
        snapshots,
        clock,
        onProblem: (error) => logger.warn({ err: error }, 'the replica'),
        // No lookup of anybody else waits for it, so it takes no turn.
        async rebuild(deleteStored) {
          logger.warn('other software wrote the replica: it is made anew')
          await deleteStored()
        },
      }),
    )
    clocks.follow(async () => {
      const addresses = await replica.lookups.documentsAsOf('ScanAddress', replica.head().offset)
      return addresses.map((contract) => payloadOf(scanAddress, contract))
    })
    measureReplica(metrics, replica, clock)
    measureProtocol(metrics, () => readProtocol(replica), NEWEST_RULES.version)
    measureRedis(metrics, resources.opened(watchRedis(redis)))
    // Where no nodes are configured nobody is asked.
    measureMargins(metrics, () =>
      config.nodes.length === 0
        ? []
        : [
            ['lookups', clocks.followingCount() - needed],
            ['registrations', clocks.followingCount() - quorumOf(genesis.nodes.length)],
          ],
    )
    const privateNodes = createPrivateNodes({
      ...{ nodes: config.nodes, nodeCount: genesis.nodes.length, needed },
      isAllowed: config.allowPrivateAddresses,
    })
    const notAsked = privateNodes.detail()
    if (notAsked !== null) logger.warn(notAsked)
    const nodeNames = genesis.nodes.map(({ name }) => name)
    const readMetrics = createReadMetrics(metrics, clock, nodeNames)
    // Alarms that a node can raise as often as it likes.
    const alarms = quiet({ clock, perSubjectMs: ALARM_MS })
    const evidence = resources.opened(
      await createEvidenceKeeper({
        store: store.evidence,
        onFound: (found) => {
          readMetrics.noteEvidence(found.signer)
          alarms.write(`evidence ${found.signer}`, (leftOut) =>
            logger.error({ evidence: found, ...leftOut }, `${found.signer} contradicts itself`),
          )
        },
        onUnsaved: (error) => logger.error({ err: error }, 'evidence is not saved'),
      }),
    )
    const certifier = resources.opened(
      createCertifier({
        ...app,
        self: null,
        peers: config.nodes ?? [],
        replica: replica.proofs,
        onEvidence: evidence.note,
      }),
    )
    const log = resources.opened(createLogClient({ ...logOptions, tracer: app.tracer }))
    const logRoom: LogRoom = resources.opened(watchLogRoom({ ...app, log }))
    // Of the log of one synchronizer, those who follow it see what it signed.
    if (genesis.ordering.driver === 'cometbft')
      resources.opened(
        followEvidence({
          log,
          genesis,
          note: evidence.note,
          clock,
          onProblem: (error) => logger.warn({ err: error }, 'no evidence from the synchronizer'),
        }),
      )
    const now = (): Micros => Math.max(replica.head().recordTime, clock.nowMicros())
    const secondMachine = watchSecondMachine(
      createLogReader({
        log,
        genesis: { ...genesis, hash: genesisHash },
        clock,
        random,
        onProblem: (error) => logger.warn({ err: error }, 'the log'),
      }),
      {
        publicKey: keyPair.publicKey,
        genesisHash,
        isLive: () => replica.state() === 'live',
        now,
        onFound: ({ offset }, text) =>
          alarms.write('second machine', (leftOut) => logger.error({ offset, ...leftOut }, text)),
      },
    )
    const { ordering } = secondMachine
    const submitter = createSubmitter({
      ordering,
      ledger: replica,
      genesisHash,
      keyPair,
      clock,
      random,
    })
    const dispatcher = resources.opened(
      await Dispatcher.create({
        outbox: store.outbox,
        ledger: replica,
        ordering,
        genesisHash,
        keyPair,
        clock,
        random,
        onProblem: (error) => logger.warn({ err: error }, 'a submission'),
      }),
    )
    const transport = resources.opened(
      createUndiciTransport({ peerTokenByOrigin, trust: app.trust }),
    )
    const readFloor = createReadFloor(replica, await store.floor.load())
    const onFork = (fork: Fork) => {
      readMetrics.noteFork()
      alarms.write('fork', (leftOut) =>
        logger.error({ fork, ...leftOut }, 'the scan nodes hold different histories'),
      )
    }
    const nodeAt = (url: string) =>
      config.nodes.find((node) => node.url === url)?.name ?? new URL(url).host
    const nodes = {
      ...{ genesis, genesisHash, seeds: config.seeds, clock, onFork },
      transport: tracedTransport(transport, app.tracer, nodeAt),
      allowPrivateAddresses: config.allowPrivateAddresses,
      floorStore: store.floor,
    }
    const certifiedReader = resources.opened(
      createCertifiedReader({ ...nodes, sha256, waitMs: PROXY_WAIT_MS }),
    )
    const reader = resources.opened(
      createReader({
        ...nodes,
        defer: setImmediate,
        localHistoryHash: localHistoryHash(replica),
        addressStore: {
          // The reader checks the signature of every record.
          load: async () => JSON.parse((await store.addresses.load()) ?? '[]'),
          save: (records) => store.addresses.save(JSON.stringify(records)),
        },
        onReply: readMetrics.noteReply,
        onPrivateAddress({ name, url }) {
          privateNodes.note({ name, url })
          alarms.write(`address ${name}`, (leftOut) =>
            logger.warn(
              { node: name, url, ...leftOut },
              `${name} is not asked: ${url} is a private address, and QS_ALLOW_PRIVATE_ADDRESSES is not 1`,
            ),
          )
        },
      }),
    )
    const queue = createPartyQueue()
    const commander = createCommander({
      ledger: replica,
      submitter,
      genesisHash,
      participant: keyPair.publicKey,
      deduplicationMicros: genesis.deduplicationMicrosMax,
      clock,
      random,
      assertLive: () => assertLive(replica, clocks),
    })
    const { autoRenewals } = store
    const userId = FIRST_ADMIN_USER
    const spending = { ledger: replica, commander, queue, autoRenewals, userId }
    const jobs = resources.opened(
      await Jobs.create({
        redis,
        prefix: QUEUES_OF.validator.prefix,
        definitions: measureJobs(app, walletJobs),
        deps: {
          ledger: replica,
          // Rehearsed first: another signatory may have been faster.
          submit: (input, { signal }) => commander.submit(input, signal),
          userId,
          isHosted: (party) => partyParticipant(party) === participant,
          areAutoRenewed: (references) => autoRenewals.areEnabled(references),
          payRenewal: (idle, signal) => payDueRenewal(spending, idle, signal),
        },
        ledger: replica,
        isLive: () => replica.state() === 'live',
        member: { index: 0, count: 1 },
        clock,
        random,
        log: logger,
      }),
    )
    measureQueues(metrics, jobs)

    /** What submitting through the ledger interface works with. */
    const submission = {
      ledger: replica,
      dispatcher,
      genesisHash,
      synchronizerId: genesis.synchronizerId,
      participant: keyPair.publicKey,
      random,
    }
    const kept = createKeptUsers({
      identity: store.identity,
      participant: keyPair.publicKey,
      hasUsers: async () => (await store.users.get(FIRST_ADMIN_USER)) !== null,
      wasHereBefore: async () => {
        assertAsFarAsNodes(replica, { clocks, nodeCount: config.nodes.length, needed })
        return await hasOperatorParty({ ledger: replica, participant: keyPair.publicKey })
      },
      isLossAccepted: config.isLossAccepted,
    })
    const registration = {
      kept,
      users: store.users,
      parties: store.parties,
      ledger: replica,
      commander,
      participant: keyPair.publicKey,
      onFoundAgain: (user: string, party: string) =>
        logger.warn(
          { user, party },
          'a user got a party that the ledger knew and the store of users did not',
        ),
    }
    const closing = new AbortController()
    const { signal } = closing
    let isOperatorRegistered = false

    const forgetRenewals = async (): Promise<void> => {
      while (!signal.aborted) {
        const isLive = replica.state() === 'live'
        if (isLive)
          await forgetEndedRenewals({ ledger: replica, autoRenewals }).catch((error: unknown) =>
            logger.info({ err: error }, 'ended renewals are not forgotten yet'),
          )
        // Aborted: the loop ends.
        await clock.delay(isLive ? FORGET_RENEWALS_MS : OPERATOR_RETRY_MS, signal).catch(() => {})
      }
    }
    const follow = async (): Promise<void> => {
      await replica.run(ordering, signal)
      const err = replica.standstill()
      // The scan proxy goes on; `/readyz` says why wallets do not.
      if (err !== null) logger.error({ err }, 'the replica goes no further')
    }
    const begin = async (): Promise<void> => {
      const live = () => assertLive(replica, clocks)
      const options = { begin: kept.begin, assertLive: live, clock, logger, signal }
      isOperatorRegistered = await registerOperator(registration, options)
    }
    const background = createBackground({ logger, signal })
    background.run(REPLICA_STOPPED, follow())
    background.run('the registration of the operator ended', begin())
    background.run('forgetting ended renewals ended', forgetRenewals())

    return {
      ...app,
      config,
      clocks,
      certifier,
      store,
      ledger: replica,
      autoRenewals,
      readFloor,
      /** Reads what one node proves: where the own replica cannot. */
      certifiedReader,
      reader: readMetrics.measured(reader),
      evidence,
      logRoom,
      privateNodes,
      secondMachine,
      verifier,
      commander,
      queue,
      registration,
      /** `participant::1220…`: this participant on the ledger interface. */
      participantId: participantIdOf(participant),
      jobs,
      dispatcher,
      submission,
      /** Resolves with the reason when the validator cannot go on: a bug, or a replica of other software. */
      failed: background.failed,
      /** Updates and streams of the ledger interface. */
      reads: resources.opened(createLedgerReads({ replica, users: store.users, clock, genesis })),
      /** What `/status` shows. */
      replicaState: () => replica.state(),
      /**
       * What the process needs for wallets and names; the scan proxy works without.
       *
       * @throws {ScanError} NOT_READY, CLOCK_OFF, LOG_REGRESSED or SOFTWARE_OUTDATED.
       */
      assertLive: () => assertLive(replica, clocks),
      /** The earliest record time that a command submitted now can get, if all clocks are right. */
      now,
      /** @throws {ScanError} As `assertLive`; STATE_DIVERGED; LOG_FORK; USERS_LOST; NOT_READY as well until the operator has its party. */
      async assertReady(): Promise<void> {
        assertLive(replica, clocks)
        const diverged = replica.proofs.diverged()
        if (diverged !== null) throw stateDiverged(diverged)
        certifier.assertAgrees()
        await kept.assertThere()
        if (!isOperatorRegistered)
          throw new ScanError('NOT_READY', "The operator's party is not allocated yet.", {
            details: { state: 'starting' },
            retryAfterSeconds: 1,
          })
      },
      async [Symbol.asyncDispose](): Promise<void> {
        closing.abort(new ScanError('NOT_READY', 'The validator is stopping.'))
        await background.ended()
        await resources[Symbol.asyncDispose]()
      },
    }
  })
}

/**
 * Live is not enough where something must not be in the log: a young log is recent from its start on.
 *
 * @throws {ScanError} NOT_READY before everything is applied that `needed` nodes have applied.
 */
function assertAsFarAsNodes(
  replica: Replica,
  nodes: { readonly clocks: PeerClocks; readonly nodeCount: number; readonly needed: number },
): void {
  if (nodes.nodeCount === 0) return
  const heads = nodes.clocks.readings().flatMap(({ head }) => head ?? [])
  const head = heads.sort((a, b) => b - a)[nodes.needed - 1]
  if (head !== undefined && replica.head().offset >= head) return
  throw new ScanError('NOT_READY', 'The validator waits to be as far in the log as the nodes.', {
    details: { state: 'starting' },
    retryAfterSeconds: 1,
  })
}

function assertLive(replica: Replica, clocks: PeerClocks): void {
  clocks.assertUsable()
  assertFollowing('validator', replica)
}

async function verifierConfig(config: ValidatorConfig): Promise<VerifierConfig> {
  const claims = { audience: config.audience, lifetimeSecondsMax: config.tokenLifetimeSecondsMax }
  if (config.tokens.kind === 'jwks') return { ...config.tokens, ...claims }
  const secret = await readParsed(config.tokens.secretFile, (text) => fromHex(text.trim()))
  return { kind: 'shared-secret', secret, ...claims }
}
