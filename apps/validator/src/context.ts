/** Everything that the handlers work with, opened in order and closed in the opposite one. */
import { readFile } from 'node:fs/promises'
import {
  createVerifier,
  FIRST_ADMIN_USER,
  type Verifier,
  type VerifierConfig,
} from '@quorumscan/auth'
import {
  type Clock,
  createSystemClock,
  fromHex,
  keyPairFromSeed,
  type Random,
  systemRandom,
} from '@quorumscan/base'
import { type Genesis, hashGenesis, parseGenesis, type Reader } from '@quorumscan/consensus'
import { createReader } from '@quorumscan/consensus/reader'
import { ScanError } from '@quorumscan/errors'
import {
  createLogger,
  createMetrics,
  createSubmitClient,
  createUndiciTransport,
  type HttpServer,
  type Logger,
  type Metrics,
  measureQueues,
  measureReplica,
  parseOriginTokens,
  timeJobs,
} from '@quorumscan/http'
import { Jobs, walletJobs } from '@quorumscan/jobs'
import { createSubmitter } from '@quorumscan/ledger'
import { createLogReader } from '@quorumscan/log'
import { type Micros, participantOfKey, partyParticipant } from '@quorumscan/model'
import { Replica } from '@quorumscan/replica'
import { type AutoRenewals, ValidatorStore } from '@quorumscan/users'
import type { ValidatorConfig } from './config.ts'
import { type Commander, createCommander } from './ledger/commander.ts'
import type { WalletLedger } from './ledger/contracts.ts'
import { Dispatcher } from './ledger-interface/commands/dispatcher.ts'
import type { SubmissionDeps } from './ledger-interface/commands/submission.ts'
import { createLedgerReads, type LedgerReads } from './ledger-interface/ledger-reads.ts'
import { participantIdOf } from './ledger-interface/participant-id.ts'
import { createReadMetrics } from './metrics.ts'
import { createAlarm } from './proxy/alarms.ts'
import { createEvidenceKeeper, type EvidenceKeeper } from './proxy/evidence.ts'
import { localHistoryHash } from './proxy/local-history.ts'
import { ensureFirstAdmin, type RegistrationDeps, register } from './users/registration.ts'
import { createPartyQueue, type PartyQueue } from './wallet/party-queue.ts'
import { forgetEndedRenewals, payDueRenewal } from './wallet/renewals.ts'

/** The ACL user of the log's Redis that may only read. */
const LOG_READER = 'reader'
/** Between tries to allocate the operator's party while the ledger is not there yet. */
const OPERATOR_RETRY_MS = 500
/** Queues of the wallet automation, apart from everything else in the validator's Redis. */
const JOBS_PREFIX = 'wallet-jobs'
/** A wish for a name that is gone takes some 200 bytes and does no harm. */
const FORGET_RENEWALS_MS = 3_600_000

/** What tests hand in. */
export type Overrides = {
  readonly clock?: Clock
  readonly random?: Random
  readonly logger?: Logger
  /** Called when everything is there, before the process listens: may add to the server. */
  readonly extend?: (parts: { readonly server: HttpServer; readonly context: Context }) => void
}

export class Context implements AsyncDisposable {
  readonly config: ValidatorConfig
  readonly clock: Clock
  readonly logger: Logger
  readonly metrics: Metrics
  readonly genesis: Genesis
  readonly genesisHash: string
  readonly store: ValidatorStore
  readonly ledger: WalletLedger
  readonly autoRenewals: AutoRenewals
  readonly reader: Reader
  readonly evidence: EvidenceKeeper
  readonly verifier: Verifier
  readonly commander: Commander
  readonly queue: PartyQueue
  readonly registration: RegistrationDeps
  /** `participant::1220…`: this participant on the ledger interface. */
  readonly participantId: string
  readonly jobs: Jobs
  readonly random: Random
  readonly dispatcher: Dispatcher
  /** What submitting through the ledger interface works with. */
  readonly submission: SubmissionDeps
  /** Updates and streams of the ledger interface. */
  readonly reads: LedgerReads
  readonly #replica: Replica
  readonly #closing = new AbortController()
  readonly #background: Promise<unknown>
  readonly #resources: readonly AsyncDisposable[]
  #isOperatorRegistered = false

  /** Opens connections and starts to follow the log. @throws {ScanError} DEPENDENCY_UNAVAILABLE. */
  static async create(config: ValidatorConfig, overrides: Overrides = {}): Promise<Context> {
    const clock = overrides.clock ?? createSystemClock()
    const random = overrides.random ?? systemRandom
    const logger = overrides.logger ?? createLogger({ name: 'validator', level: config.logLevel })
    const metrics = createMetrics({ clock })
    const genesis = parseGenesis(JSON.parse(await readFile(config.genesisFile, 'utf8')))
    const peerTokenByOrigin = parseOriginTokens(await readOptional(config.nodeTokensFile))
    const genesisHash = await hashGenesis(genesis)
    const keyPair = keyPairFromSeed(await readSecret(config.participantKeyFile))
    const participant = participantOfKey(keyPair.publicKey)
    const verifier = createVerifier(await verifierConfig(config), {
      clock,
      onKeysUnavailable: (err) =>
        logger.warn({ err }, 'the keys for tokens cannot be fetched from QS_JWKS_URL'),
    })
    const password = await readSecret(config.logRedis.passwordFile)

    // Closed in the opposite order, also those opened before one that failed.
    const resources: AsyncDisposable[] = []
    const opened = <T extends AsyncDisposable>(resource: T): T => {
      resources.push(resource)
      return resource
    }
    try {
      const store = opened(await ValidatorStore.create({ path: config.redisPath, genesisHash }))
      await ensureFirstAdmin(store.users)
      const replica = opened(
        await Replica.create({
          redis: { path: config.redisPath },
          genesis,
          genesisHash,
          participant,
          dueJobs: walletJobs.map(({ name }) => name),
          clock,
          onProblem: (error) => logger.warn({ err: error }, 'the replica'),
        }),
      )
      measureReplica(metrics, replica, clock)
      const readMetrics = createReadMetrics(metrics, clock)
      const submitClient = opened(createSubmitClient({ url: config.synchronizerUrl }))
      const ordering = createLogReader({
        redis: { path: config.logRedis.path, username: LOG_READER, password },
        genesis: {
          hash: genesisHash,
          recordTime: genesis.recordTime,
          synchronizerKey: genesis.synchronizerKey,
        },
        submit: submitClient.submit,
        clock,
        random,
        onProblem: (error) => logger.warn({ err: error }, 'the log'),
      })
      const submitter = createSubmitter({
        ordering,
        ledger: replica,
        genesisHash,
        keyPair,
        clock,
        random,
      })
      const alarm = createAlarm({
        monotonicMs: clock.monotonicMs,
        log: (fields, text) => logger.error(fields, text),
      })
      const dispatcher = opened(
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
      const evidence = opened(
        await createEvidenceKeeper({
          store: store.evidence,
          onFound: (found) => {
            readMetrics.noteEvidence(found.signer)
            alarm({
              subject: found.signer,
              text: `${found.signer} contradicts itself`,
              fields: { evidence: found },
            })
          },
          onUnsaved: (error) => logger.error({ err: error }, 'evidence is not saved'),
        }),
      )
      const transport = opened(createUndiciTransport({ peerTokenByOrigin }))
      const reader = opened(
        createReader({
          genesis,
          genesisHash,
          seeds: config.seeds,
          transport,
          clock,
          defer: setImmediate,
          localHistoryHash: localHistoryHash(replica),
          floorStore: store.floor,
          addressStore: {
            // The reader checks the signature of every record.
            load: async () => JSON.parse((await store.addresses.load()) ?? '[]'),
            save: (records) => store.addresses.save(JSON.stringify(records)),
          },
          allowPrivateAddresses: config.allowPrivateAddresses,
          onFork: (fork) => {
            readMetrics.noteFork()
            alarm({
              subject: 'fork',
              text: 'the scan nodes hold different histories',
              fields: { fork },
            })
          },
          onStatement: evidence.note,
          onReply: readMetrics.noteReply,
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
        assertLive: () => assertLive(replica),
      })
      const { autoRenewals } = store
      const userId = FIRST_ADMIN_USER
      const spending = { ledger: replica, commander, queue, autoRenewals, userId }
      const jobs = opened(
        await Jobs.create({
          redis: { path: config.redisPath },
          prefix: JOBS_PREFIX,
          definitions: timeJobs(metrics, clock, walletJobs),
          deps: {
            ledger: replica,
            // Rehearsed first: another signatory may have been faster.
            submitter: { submit: (input, { signal }) => commander.submit(input, signal) },
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
      return new Context({
        config,
        clock,
        logger,
        metrics,
        genesis,
        genesisHash,
        participant: keyPair.publicKey,
        store,
        replica,
        reads: opened(createLedgerReads({ replica, users: store.users, clock, genesis })),
        ordering,
        commander,
        dispatcher,
        random,
        queue,
        reader: readMetrics.measured(reader),
        evidence,
        verifier,
        jobs,
        resources,
      })
    } catch (error) {
      await closeAll(resources)
      throw error
    }
  }

  private constructor(parts: {
    config: ValidatorConfig
    clock: Clock
    logger: Logger
    metrics: Metrics
    genesis: Genesis
    genesisHash: string
    participant: string
    store: ValidatorStore
    replica: Replica
    reads: LedgerReads
    ordering: Parameters<Replica['run']>[0]
    commander: Commander
    dispatcher: Dispatcher
    random: Random
    queue: PartyQueue
    reader: Reader
    evidence: EvidenceKeeper
    verifier: Verifier
    jobs: Jobs
    resources: readonly AsyncDisposable[]
  }) {
    this.config = parts.config
    this.clock = parts.clock
    this.logger = parts.logger
    this.metrics = parts.metrics
    this.genesis = parts.genesis
    this.genesisHash = parts.genesisHash
    this.store = parts.store
    this.#replica = parts.replica
    this.reads = parts.reads
    this.ledger = parts.replica
    this.reader = parts.reader
    this.evidence = parts.evidence
    this.verifier = parts.verifier
    this.jobs = parts.jobs
    this.#resources = parts.resources
    this.autoRenewals = parts.store.autoRenewals
    this.commander = parts.commander
    this.random = parts.random
    this.dispatcher = parts.dispatcher
    this.submission = {
      ledger: parts.replica,
      dispatcher: parts.dispatcher,
      genesisHash: parts.genesisHash,
      synchronizerId: parts.genesis.synchronizerId,
      participant: parts.participant,
      random: parts.random,
    }
    this.queue = parts.queue
    this.participantId = participantIdOf(participantOfKey(parts.participant))
    this.registration = {
      users: parts.store.users,
      parties: parts.store.parties,
      ledger: parts.replica,
      commander: this.commander,
      participant: parts.participant,
    }
    const { signal } = this.#closing
    const replicating = parts.replica
      .run(parts.ordering, signal)
      .catch((error: unknown) => this.logger.fatal({ err: error }, 'the replica stopped'))
    this.#background = Promise.all([
      replicating,
      this.#registerOperator(signal),
      this.#forgetRenewals(signal),
    ])
  }

  /** What `/status` shows. */
  replicaState(): ReturnType<Replica['state']> {
    return this.#replica.state()
  }

  /**
   * What the process needs for wallets and names; the scan proxy works without.
   *
   * @throws {ScanError} NOT_READY or LOG_REGRESSED.
   */
  assertLive(): void {
    assertLive(this.#replica)
  }

  /** The earliest record time that a command submitted now can get, if all clocks are right. */
  now(): Micros {
    return Math.max(this.#replica.head().recordTime, this.clock.nowMicros())
  }

  /** @throws {ScanError} As `assertLive`; NOT_READY as well until the operator has its party. */
  assertReady(): void {
    this.assertLive()
    if (!this.#isOperatorRegistered)
      throw new ScanError('NOT_READY', "The operator's party is not allocated yet.", {
        details: { state: 'starting' },
        retryAfterSeconds: 1,
      })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closing.abort(new ScanError('NOT_READY', 'The validator is stopping.'))
    await this.#background
    await closeAll(this.#resources)
  }

  /** The validator's own party, allocated at the first start. */
  async #registerOperator(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      try {
        this.assertLive()
        await register(this.registration, FIRST_ADMIN_USER, signal)
        this.#isOperatorRegistered = true
        return
      } catch (error) {
        this.logger.debug({ err: error }, 'the operator has no party yet')
        await this.clock.delay(OPERATOR_RETRY_MS, signal).catch(() => {}) // Aborted: the loop ends.
      }
    }
  }

  async #forgetRenewals(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const isLive = this.#replica.state() === 'live'
      if (isLive)
        await forgetEndedRenewals(this).catch((error: unknown) =>
          this.logger.info({ err: error }, 'ended renewals are not forgotten yet'),
        )
      // Aborted: the loop ends.
      await this.clock
        .delay(isLive ? FORGET_RENEWALS_MS : OPERATOR_RETRY_MS, signal)
        .catch(() => {})
    }
  }
}

function assertLive(replica: Replica): void {
  const state = replica.state()
  if (state === 'live') return
  if (state === 'regressed')
    throw new ScanError(
      'LOG_REGRESSED',
      'The log is shorter than, or different from, what this validator applied.',
    )
  throw new ScanError('NOT_READY', `The validator's replica is ${state}.`, {
    details: { state },
    retryAfterSeconds: 1,
  })
}

async function closeAll(resources: readonly AsyncDisposable[]): Promise<void> {
  for (const resource of resources.toReversed()) await resource[Symbol.asyncDispose]()
}

async function verifierConfig(config: ValidatorConfig): Promise<VerifierConfig> {
  const claims = { audience: config.audience, lifetimeSecondsMax: config.tokenLifetimeSecondsMax }
  if (config.tokens.kind === 'jwks') return { ...config.tokens, ...claims }
  const secret = fromHex(await readSecret(config.tokens.secretFile))
  return { kind: 'shared-secret', secret, ...claims }
}

async function readOptional(path: string | null): Promise<string> {
  return path === null ? '' : await readFile(path, 'utf8')
}

async function readSecret(path: string): Promise<string> {
  return (await readFile(path, 'utf8')).trim()
}
