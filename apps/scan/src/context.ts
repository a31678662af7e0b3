/** Everything that a scan node works with, opened in order and closed in the opposite one. */
import { readFile } from 'node:fs/promises'
import {
  type Clock,
  createSystemClock,
  type KeyPair,
  keyPairFromSeed,
  type Random,
  systemRandom,
} from '@quorumscan/base'
import { type Genesis, hashGenesis, parseGenesis } from '@quorumscan/consensus'
import {
  createLogger,
  createMetrics,
  createSubmitClient,
  type HttpServer,
  type Logger,
  type Metrics,
  measureQueues,
  measureReplica,
  parsePeerTokens,
  timeJobs,
} from '@quorumscan/http'
import { Jobs, operatorJobs } from '@quorumscan/jobs'
import { createSubmitter, type Ordering, svPartyOf } from '@quorumscan/ledger'
import { createLogReader } from '@quorumscan/log'
import type { PartyId } from '@quorumscan/model'
import { Replica } from '@quorumscan/replica'
import { publishAddress } from './address.ts'
import type { ScanConfig } from './config.ts'

/** The ACL user of the log's Redis that may only read. */
const LOG_READER = 'reader'

/** What tests and fault plugins hand in. */
export type Overrides = {
  readonly clock?: Clock
  readonly random?: Random
  readonly logger?: Logger
  /** How entries reach the log, instead of the synchronizer's HTTP. */
  readonly submit?: Ordering['submit']
  /** Called when everything is there, before the process listens: may add to the server. */
  readonly extend?: (parts: { readonly server: HttpServer; readonly context: Context }) => void
}

/** What this node is in the network. */
type Identity = {
  readonly genesis: Genesis
  readonly genesisHash: string
  readonly nodeName: string
  readonly party: PartyId
  readonly scanKey: KeyPair
}

export class Context implements AsyncDisposable, Identity {
  readonly config: ScanConfig
  /** Of callers who may ask for more (D-33). */
  readonly peerTokens: readonly string[]
  readonly clock: Clock
  readonly logger: Logger
  readonly metrics: Metrics
  readonly genesis: Genesis
  readonly genesisHash: string
  readonly nodeName: string
  readonly party: PartyId
  readonly scanKey: KeyPair
  readonly replica: Replica
  readonly jobs: Jobs
  readonly #random: Random
  readonly #submitter: ReturnType<typeof createSubmitter>
  readonly #closing = new AbortController()
  readonly #background: Promise<unknown>[] = []
  #fail: (error: unknown) => void = () => {}
  /** Resolves with the reason when the node cannot go on: a bug, or a log that asks for newer software. */
  readonly failed = new Promise<unknown>((resolve) => {
    this.#fail = resolve
  })
  readonly #resources: readonly AsyncDisposable[]

  /**
   * Opens connections, starts to follow the log and to work on what is due.
   *
   * @throws {ScanError} DEPENDENCY_UNAVAILABLE if the node's Redis does not come up.
   * @throws {Error} If a key is not the one that the genesis names for this node.
   */
  static async create(config: ScanConfig, overrides: Overrides = {}): Promise<Context> {
    const clock = overrides.clock ?? createSystemClock()
    const random = overrides.random ?? systemRandom
    const logger =
      overrides.logger ?? createLogger({ name: config.nodeName, level: config.logLevel })
    const metrics = createMetrics({ clock })
    const genesis = parseGenesis(JSON.parse(await readFile(config.genesisFile, 'utf8')))
    const genesisHash = await hashGenesis(genesis)
    const { node, index } = nodeOf(genesis, config.nodeName)
    const scanKey = await readKey(config.scanKeyFile, node.scanKey)
    const operatorKey = await readKey(config.operatorKeyFile, node.operatorKey)
    const password = await readSecret(config.logRedis.passwordFile)
    const party = svPartyOf(node)

    // Closed in the opposite order, also those opened before one that failed.
    const resources: AsyncDisposable[] = []
    const opened = <T extends AsyncDisposable>(resource: T): T => {
      resources.push(resource)
      return resource
    }
    try {
      const redis = { path: config.redisPath }
      const replica = opened(
        await Replica.create({
          redis,
          genesis,
          genesisHash,
          dueJobs: operatorJobs.map(({ name }) => name),
          clock,
          onProblem: (error) => logger.warn({ err: error }, 'the replica waits'),
        }),
      )
      measureReplica(metrics, replica, clock)
      const ordering = createLogReader({
        redis: { path: config.logRedis.path, username: LOG_READER, password },
        genesis: { ...genesis, hash: genesisHash },
        submit:
          overrides.submit ?? opened(createSubmitClient({ url: config.synchronizerUrl })).submit,
        clock,
        random,
        onProblem: (error) => logger.warn({ err: error }, 'the log'),
      })
      const submitter = createSubmitter({
        ordering,
        ledger: replica,
        genesisHash,
        keyPair: operatorKey,
        clock,
        random,
      })
      const jobs = opened(
        await Jobs.create({
          redis,
          definitions: timeJobs(metrics, clock, operatorJobs),
          deps: { ledger: replica, submitter, party, userId: config.nodeName },
          ledger: replica,
          isLive: () => replica.state() === 'live',
          member: { index, count: genesis.nodes.length },
          clock,
          random,
          log: logger,
        }),
      )
      measureQueues(metrics, jobs)
      const identity = { genesis, genesisHash, nodeName: config.nodeName, party, scanKey }
      const peerTokens = parsePeerTokens(
        config.peerTokensFile === null ? '' : await readFile(config.peerTokensFile, 'utf8'),
      )
      const parts = {
        config,
        peerTokens,
        clock,
        random,
        logger,
        replica,
        ordering,
        submitter,
        jobs,
        resources,
      }
      return new Context({ ...identity, ...parts, metrics })
    } catch (error) {
      await closeAll(resources)
      throw error
    }
  }

  private constructor(
    parts: Identity & {
      config: ScanConfig
      peerTokens: readonly string[]
      clock: Clock
      random: Random
      logger: Logger
      metrics: Metrics
      replica: Replica
      ordering: Ordering
      submitter: ReturnType<typeof createSubmitter>
      jobs: Jobs
      resources: readonly AsyncDisposable[]
    },
  ) {
    this.config = parts.config
    this.peerTokens = parts.peerTokens
    this.clock = parts.clock
    this.logger = parts.logger
    this.metrics = parts.metrics
    this.genesis = parts.genesis
    this.genesisHash = parts.genesisHash
    this.nodeName = parts.nodeName
    this.party = parts.party
    this.scanKey = parts.scanKey
    this.replica = parts.replica
    this.jobs = parts.jobs
    this.#random = parts.random
    this.#submitter = parts.submitter
    this.#resources = parts.resources
    const { signal } = this.#closing
    this.#run('the replica stopped', this.#follow(parts.ordering, signal))
  }

  /** Puts the address on the ledger in the background, as soon and as often as needed (D-34). */
  publishAddress(url: string): void {
    const work = publishAddress({
      ledger: this.replica,
      submitter: this.#submitter,
      isLive: () => this.replica.state() === 'live',
      genesisHash: this.genesisHash,
      nodeName: this.nodeName,
      party: this.party,
      scanKey: this.scanKey,
      url,
      clock: this.clock,
      random: this.#random,
      signal: this.#closing.signal,
      onRetry: (error) => this.logger.info({ err: error }, 'the address is not on the ledger yet'),
    }).then(() => this.logger.info({ url }, 'the address is on the ledger'))
    this.#run('publishing the address ended', work)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closing.abort(new Error('the node is stopping'))
    await Promise.all(this.#background)
    await closeAll(this.#resources)
  }

  async #follow(ordering: Ordering, signal: AbortSignal): Promise<void> {
    const outcome = await this.replica.run(ordering, signal)
    // Lookups go on at the head that was reached; `/readyz` says LOG_REGRESSED.
    if (outcome === 'regressed') this.logger.error('the log is not the one that was applied')
  }

  #run(failure: string, work: Promise<unknown>): void {
    this.#background.push(
      work.catch((error: unknown) => {
        if (this.#closing.signal.aborted) return
        this.logger.fatal({ err: error }, failure)
        this.#fail(error)
      }),
    )
  }
}

function nodeOf(genesis: Genesis, name: string) {
  const index = genesis.nodes.findIndex((node) => node.name === name)
  const node = genesis.nodes[index]
  if (node === undefined) throw new Error(`the genesis has no node ${JSON.stringify(name)}`)
  return { node, index }
}

async function readKey(path: string, publicKey: string): Promise<KeyPair> {
  const keyPair = keyPairFromSeed(await readSecret(path))
  if (keyPair.publicKey !== publicKey)
    throw new Error(`${path} is not the key that the genesis names for this node`)
  return keyPair
}

async function readSecret(path: string): Promise<string> {
  return (await readFile(path, 'utf8')).trim()
}

async function closeAll(resources: readonly AsyncDisposable[]): Promise<void> {
  for (const resource of resources.toReversed()) await resource[Symbol.asyncDispose]()
}
