/**
 * A running cluster: starts its processes in order, watches them, breaks and mends them on request,
 * and stops them in the opposite order. Restarts nothing on its own.
 */
import { existsSync, mkdtempSync, readFileSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { type Clock, waitFor } from '@quorumscan/base'
import { maxFaulty, quorumOf } from '@quorumscan/consensus'
import type { JobCounts, JobFailure } from '@quorumscan/jobs'
import type { LogRedisAddress } from '@quorumscan/log'
import { ClusterError } from './cluster-error.ts'
import { type DataDirectory, readJson, writeFileAtomic } from './data-directory.ts'
import { askAgent } from './faults/agent-client.ts'
import { FaultControl, type FaultSelection } from './faults/fault-control.ts'
import { type Fault, type FaultSpec, processFaultsOf } from './faults/fault-spec.ts'
import { limitMemory } from './faults/redis-memory.ts'
import type { Prepared } from './prepare.ts'
import { answersByQuorum, askHealth, type Health, isRedisReady } from './probe.ts'
import type { ClusterStatus, NodeStatus, ServiceStatus } from './status.ts'
import { endLeftovers, Supervisor } from './supervisor.ts'
import { planServices, type Service, type TopologyInput } from './topology.ts'
import { deleteReplica } from './wipe.ts'

/** A cold start of an app under full load of the machine, replay of a long log excluded. */
const READY_TIMEOUT_MS = 60_000
/** Requests in flight end within the longest wait of a request (the SDK's 10 s) or not at all. */
const STOP_GRACE_MS = 12_000
const POLL_INTERVAL_MS = 500
const READY_INTERVAL_MS = 50
const LOG_CHECK_INTERVAL_MS = 30_000
const SOCKET_DIRECTORY_PREFIX = 'qs-'
/** Lines of a log that an error shows. */
const LOG_TAIL_LINES = 15

export type Target = { readonly node: string; readonly redis: boolean }

export type ClusterOptions = {
  readonly prepared: Prepared
  readonly topology: Omit<TopologyInput, 'prepared' | 'socketDirectory'>
  readonly clock: Clock
  /** Whether to start by deleting every replica, as `wipe` does. */
  readonly wipe: boolean
  /** Whether to take over what a control plane that crashed left running, and the faults in force. */
  readonly adopt?: boolean
  /** Where the console is served, with its token; null where it is not. */
  readonly consoleUrl: string | null
  /** Told one sentence for each step of the start. */
  readonly onStep: (sentence: string) => void
}

/** The automation of one process. */
export type ServiceJobs = {
  readonly node: string
  /** From its agent, which is ours. */
  readonly jobs: {
    readonly queues: Readonly<Record<string, JobCounts>>
    readonly failures: readonly JobFailure[]
  } | null
}

type Watched = { health: Health | null; wasUp: boolean }

export class Cluster {
  readonly #options: ClusterOptions
  readonly #socketDirectory: string
  readonly #services: readonly Service[]
  readonly #supervisor: Supervisor
  readonly #stopping = new AbortController()
  readonly #watchedByName = new Map<string, Watched>()
  readonly #lastWorkByName = new Map<string, Promise<unknown>>()
  readonly #faults: FaultControl
  /** Whose process does not know yet what faults it has. */
  readonly #untold = new Set<string>()
  #stopped: Promise<void> | null = null
  #adoptedCount = 0

  constructor(options: ClusterOptions) {
    this.#options = options
    const { directory } = options.prepared
    const kept = options.adopt === true ? keptSockets(directory) : null
    // Below the real path of the temporary directory, because Redis is given it as it is.
    this.#socketDirectory =
      kept ?? mkdtempSync(join(realpathSync(tmpdir()), SOCKET_DIRECTORY_PREFIX))
    writeFileAtomic(directory.socketsFile, JSON.stringify({ path: this.#socketDirectory }))
    this.#services = planServices({
      ...options.topology,
      prepared: options.prepared,
      socketDirectory: this.#socketDirectory,
    })
    this.#supervisor = new Supervisor(supervisorOptions(options.prepared.directory, options.clock))
    this.#faults = new FaultControl({
      clock: options.clock,
      file: options.prepared.directory.faultsFile,
      effects: {
        begin: (spec) => this.#exclusively(spec.node, (service) => this.#begin(service, spec)),
        end: (spec) => this.#end(spec),
        isInForce: (spec) => this.#isInForce(spec),
      },
      onChange: () => {},
    })
    if (kept === null) return
    this.#adoptedCount = this.#supervisor.adopt(
      this.#services.flatMap(({ app, redis }) => [app, redis]),
    )
    if (this.#adoptedCount > 0) this.#faults.restore()
  }

  /** Ends what a control plane that crashed left running, where this one has not taken it over. */
  async endOthers(): Promise<{ readonly adopted: number; readonly ended: number }> {
    return { adopted: this.#adoptedCount, ended: await this.#supervisor.endOthers() }
  }

  /** The ports on which processes that run already listen. */
  portsInUse(): ReadonlySet<number> {
    const running = this.#services.filter(({ app }) => this.#supervisor.pid(app.id) !== null)
    return new Set(running.map(({ url }) => Number(new URL(url).port)))
  }

  /**
   * Starts everything that does not run and returns when all of it is ready. What is broken on purpose
   * stays so, and nobody waits for it. Stop the cluster when this throws.
   *
   * @throws {ClusterError} If a process ends or does not get ready in time; the end of its log is shown.
   */
  async start(): Promise<void> {
    const { onStep } = this.#options
    onStep(this.#options.wipe ? 'starting Redis, without the replicas' : 'starting Redis')
    await Promise.all(
      this.#services.map((service) =>
        this.#options.wipe && service.kind !== 'synchronizer'
          ? this.#deleteReplica(service)
          : this.#isKilled(service, true)
            ? undefined
            : this.#startRedis(service),
      ),
    )
    for (const kind of ['synchronizer', 'scan', 'validator'] as const) {
      const services = this.#services.filter((service) => service.kind === kind)
      onStep(`starting ${services.map((service) => service.name).join(', ')}`)
      await Promise.all(
        services.map(({ name }) =>
          this.#exclusively(name, (service) => this.#startOrTakeOver(service)),
        ),
      )
      for (const service of services) void this.#watch(service)
      const whole = services.filter(({ name }) => this.#faults.of(name).length === 0)
      await Promise.all(whole.map((service) => this.#untilUp(service)))
    }
    if (this.#faults.list().length === 0) {
      onStep('waiting for the first answer that enough nodes agree on')
      await this.#untilQuorum()
    }
    void this.#boundLogs()
  }

  /** From what was last heard: asks nobody, so that no paused process delays it. */
  status(): ClusterStatus {
    const { prepared } = this.#options
    const n = prepared.nodeNames.length
    const f = maxFaulty(n)
    return {
      cluster: {
        n,
        f,
        readThreshold: f + 1,
        confirmThreshold: quorumOf(n),
        genesisHash: prepared.genesisHash,
      },
      nodes: this.#services
        .filter(({ kind }) => kind === 'scan')
        .map((node) => this.#nodeStatus(node)),
      validator: this.#serviceStatus(this.#service('validator')),
      synchronizer: this.#serviceStatus(this.#service('synchronizer')),
      console: this.#options.consoleUrl === null ? null : { url: this.#options.consoleUrl },
      dataDir: prepared.directory.path,
    }
  }

  /** The faults in force, in the order in which they began. */
  faults(): readonly Fault[] {
    return this.#faults.list()
  }

  /**
   * Breaks something, for a time or until it is healed. Returns when the fault is in force.
   *
   * @throws {ClusterError} If the fault makes no sense there.
   */
  inject(spec: FaultSpec, durationMs: number | null): Promise<Fault> {
    assertPossible(this.#service(spec.node), spec)
    return this.#faults.inject(spec, durationMs)
  }

  /** Ends faults: one, those of a node, or all. Returns those that were in force. */
  async heal(selection: FaultSelection): Promise<readonly Fault[]> {
    if (selection.node !== undefined) this.#service(selection.node)
    return await this.#faults.heal(selection)
  }

  /** The unix socket of the log's Redis. */
  logSocket(): string {
    return this.#service('synchronizer').redisAddress.socketPath
  }

  /** What is in the job queues of each process, and what failed there of late; null where it does not say. */
  async jobs(): Promise<readonly ServiceJobs[]> {
    const services = this.#services.filter(({ kind }) => kind !== 'synchronizer')
    return await Promise.all(
      services.map(async ({ name, faultSocket }) => ({
        node: name,
        jobs: (await askAgent(faultSocket, '/jobs').catch(() => null)) as ServiceJobs['jobs'],
      })),
    )
  }

  /** Adds a failed job again. @throws {ClusterError} If the process does not answer, or has no such queue. */
  async retryJob(retried: { node: string; job: string; contractId: string }): Promise<void> {
    const { faultSocket } = this.#service(retried.node)
    if ((await askAgent(faultSocket, '/jobs/retry', retried)) !== true)
      throw new ClusterError(`${retried.node} has no queue ${retried.job}`)
  }

  /** Where the log can be read. */
  logAddress(): LogRedisAddress {
    return {
      path: this.#service('synchronizer').redisAddress.socketPath,
      username: 'reader',
      password: this.#options.prepared.secrets.logReader,
    }
  }

  /**
   * Moves the horizon of a scan node: it refuses to read below the offset from then on.
   *
   * @returns The horizon: never less than before.
   * @throws {ClusterError} If the node does not answer, or has not reached the offset.
   */
  async prune(pruned: { node: string; to: number }): Promise<{ readonly horizon: number }> {
    const { kind, faultSocket } = this.#service(pruned.node)
    if (kind !== 'scan') throw new ClusterError(`${pruned.node} is no scan node`)
    return (await askAgent(faultSocket, '/prune', { to: pruned.to })) as { horizon: number }
  }

  /** SIGKILL to the process, or to its Redis. */
  async kill(target: Target): Promise<void> {
    await this.inject({ kind: 'kill', ...target }, null)
  }

  /** SIGSTOP. @throws {ClusterError} If it does not run. */
  async pause(target: Target): Promise<void> {
    await this.inject({ kind: 'pause', ...target }, null)
  }

  /** SIGCONT. @throws {ClusterError} If it does not run. */
  async resume(target: Target): Promise<void> {
    await this.#exclusively(target.node, async (service) => {
      this.#assertRunning(idOf(service, target))
      await this.#supervisor.resume(idOf(service, target))
      await this.#ask(service)
    })
    this.#faults.refresh()
  }

  /** Stops the process (or its Redis) if it runs, starts it, and waits until it is up, within bounds. */
  async restart(target: Target): Promise<void> {
    await this.#exclusively(target.node, async (service) => {
      await this.#supervisor.stop(idOf(service, target), STOP_GRACE_MS)
      await this.#startRedis(service)
      if (!target.redis) await this.#startApp(service)
    })
    this.#faults.refresh()
    if (!target.redis) await this.#untilUpOrLate(this.#service(target.node))
  }

  /**
   * Deletes the replica of a node or of the validator, which then rebuilds it from the log. What does
   * not follow from the log stays (Rule 3).
   *
   * @throws {ClusterError} For the synchronizer: the log is what everything else is rebuilt from.
   */
  async wipe(node: string): Promise<void> {
    await this.#exclusively(node, async (service) => {
      if (service.kind === 'synchronizer')
        throw new ClusterError(
          'the synchronizer keeps the log, from which all replicas are rebuilt; it cannot be wiped',
        )
      await this.#supervisor.stop(service.app.id, STOP_GRACE_MS)
      await this.#deleteReplica(service)
      await this.#startApp(service)
    })
    this.#faults.refresh()
    await this.#untilUpOrLate(this.#service(node))
  }

  /** Stops everything in order: validator, nodes, synchronizer, then the Redis of each. Once. */
  stop(): Promise<void> {
    this.#stopped ??= this.#stopAll()
    return this.#stopped
  }

  async #stopAll(): Promise<void> {
    this.#stopping.abort(new ClusterError('the cluster is being stopped'))
    this.#faults.close()
    await Promise.allSettled(this.#lastWorkByName.values())
    for (const kind of ['validator', 'scan', 'synchronizer'] as const)
      await Promise.all(
        this.#services
          .filter((service) => service.kind === kind)
          .map((service) => this.#supervisor.stop(service.app.id, STOP_GRACE_MS)),
      )
    await Promise.all(
      this.#services.map((service) => this.#supervisor.stop(service.redis.id, STOP_GRACE_MS)),
    )
    rmSync(this.#socketDirectory, { recursive: true, force: true })
    rmSync(this.#options.prepared.directory.socketsFile, { force: true })
    rmSync(this.#options.prepared.directory.faultsFile, { force: true })
  }

  async #begin(service: Service, spec: FaultSpec): Promise<void> {
    switch (spec.kind) {
      case 'kill':
        return await this.#supervisor.kill(idOf(service, spec))
      case 'pause':
        this.#assertRunning(idOf(service, spec))
        return await this.#supervisor.pause(idOf(service, spec))
      case 'memory':
        this.#assertRunning(service.redis.id)
        return await limitMemory(service.redisAddress.socketPath, true)
      default:
        return await this.#tellFaults(service)
    }
  }

  async #end(spec: FaultSpec): Promise<void> {
    const service = this.#service(spec.node)
    await this.#exclusively(spec.node, async () => {
      if (spec.kind === 'memory') {
        if (this.#supervisor.state(service.redis.id) === 'running')
          await limitMemory(service.redisAddress.socketPath, false)
      } else if (spec.kind === 'pause') await this.#supervisor.resume(idOf(service, spec))
      else if (spec.kind === 'kill') {
        await this.#startRedis(service)
        if (!spec.redis && this.#supervisor.pid(service.app.id) === null)
          await this.#startApp(service)
      } else await this.#tellFaults(service)
    })
    if (spec.kind === 'kill' && !spec.redis) await this.#untilUpOrLate(service)
    else await this.#ask(service)
  }

  #isInForce(spec: FaultSpec): boolean {
    const service = this.#service(spec.node)
    if (spec.kind === 'kill') return this.#supervisor.state(idOf(service, spec)) === 'gone'
    if (spec.kind === 'pause') return this.#supervisor.state(idOf(service, spec)) === 'stopped'
    return true
  }

  /** A process that cannot be told now is told as soon as it can. */
  async #tellFaults(service: Service): Promise<void> {
    this.#untold.add(service.name)
    if (this.#supervisor.state(service.app.id) !== 'running') return
    const faults = processFaultsOf(this.#faults.of(service.name))
    try {
      await askAgent(service.faultSocket, '/faults', faults)
      this.#untold.delete(service.name)
    } catch (error) {
      if (!(error instanceof ClusterError)) throw error
    }
  }

  #nodeStatus(service: Service): NodeStatus {
    const health = this.#watchedByName.get(service.name)?.health ?? null
    return {
      name: service.name,
      ...this.#serviceStatus(service),
      offset: health?.offset ?? null,
      recordTime: health?.recordTime ?? null,
    }
  }

  #serviceStatus(service: Service): ServiceStatus {
    return {
      url: service.url,
      ...this.#stateOf(service),
      pid: this.#supervisor.pid(service.app.id),
      redisPid: this.#supervisor.pid(service.redis.id),
    }
  }

  #stateOf(service: Service): Pick<ServiceStatus, 'state' | 'detail'> {
    const app = this.#supervisor.state(service.app.id)
    const redis = this.#supervisor.state(service.redis.id)
    if (app === 'gone') return { state: 'down', detail: null }
    if (app === 'stopped') return { state: 'paused', detail: null }
    if (redis === 'gone') return { state: 'down', detail: 'its Redis is down' }
    if (redis === 'stopped') return { state: 'paused', detail: 'its Redis is paused' }
    const watched = this.#watchedByName.get(service.name)
    if (watched?.health != null)
      return { state: watched.health.state, detail: watched.health.detail }
    return watched?.wasUp
      ? { state: 'catching-up', detail: 'it does not answer' }
      : { state: 'starting', detail: null }
  }

  /** Afterwards its Redis runs. A node's goes with its files, which also mends a broken one. */
  async #deleteReplica(service: Service): Promise<void> {
    if (service.kind === 'scan') {
      await this.#supervisor.kill(service.redis.id)
      rmSync(service.redisDirectory, { recursive: true, force: true })
    }
    await this.#startRedis(service)
    if (service.kind === 'validator') await deleteReplica(service.redisAddress.socketPath)
  }

  async #startRedis(service: Service): Promise<void> {
    const { clock } = this.#options
    if (this.#supervisor.pid(service.redis.id) !== null) return
    this.#stopping.signal.throwIfAborted()
    writeFileAtomic(service.redisConfig.file, service.redisConfig.text)
    await this.#supervisor.start(service.redis)
    await waitFor(
      async () => {
        this.#assertRunning(service.redis.id)
        return (await isRedisReady(service.redisAddress)) ? true : undefined
      },
      {
        clock,
        timeoutMs: READY_TIMEOUT_MS,
        intervalMs: READY_INTERVAL_MS,
        what: `the Redis of ${service.name}`,
        signal: this.#stopping.signal,
      },
    )
    if (this.#faults.of(service.name).some(({ kind }) => kind === 'memory'))
      await limitMemory(service.redisAddress.socketPath, true)
  }

  async #startOrTakeOver(service: Service): Promise<void> {
    if (this.#supervisor.pid(service.app.id) !== null || this.#isKilled(service, false))
      this.#watchedByName.set(service.name, { health: null, wasUp: false })
    else await this.#startApp(service)
  }

  /** Whether it is killed on purpose. */
  #isKilled(service: Service, redis: boolean): boolean {
    return this.#faults
      .of(service.name)
      .some((spec) => spec.kind === 'kill' && spec.redis === redis)
  }

  async #startApp(service: Service): Promise<void> {
    this.#stopping.signal.throwIfAborted()
    this.#watchedByName.set(service.name, { health: null, wasUp: false })
    const faults = JSON.stringify(processFaultsOf(this.#faults.of(service.name)))
    this.#untold.delete(service.name)
    await this.#supervisor.start({
      ...service.app,
      env: { ...service.app.env, QS_FAULTS: faults },
    })
  }

  async #untilUp(service: Service): Promise<void> {
    await waitFor(
      async () => {
        this.#assertRunning(service.app.id)
        await this.#ask(service)
        return this.#stateOf(service).state === 'up' ? true : undefined
      },
      {
        clock: this.#options.clock,
        timeoutMs: READY_TIMEOUT_MS,
        intervalMs: READY_INTERVAL_MS,
        what: `${service.name} to be ready`,
        signal: this.#stopping.signal,
      },
    )
  }

  /** As `#untilUp`, but a process that lives and is late is fine: `status` tells how it goes on. */
  async #untilUpOrLate(service: Service): Promise<void> {
    await this.#untilUp(service).catch((error: unknown) => {
      if (error instanceof ClusterError) throw error
    })
  }

  /** Ready is not enough for a person: the validator must have reached the nodes, too. */
  async #untilQuorum(): Promise<void> {
    const validator = this.#service('validator')
    await waitFor(
      async () => {
        this.#assertRunning(validator.app.id)
        return (await answersByQuorum(validator.url)) ? true : undefined
      },
      {
        clock: this.#options.clock,
        timeoutMs: READY_TIMEOUT_MS,
        what: 'the validator to get an answer that enough nodes agree on',
        signal: this.#stopping.signal,
      },
    )
  }

  async #watch(service: Service): Promise<void> {
    const { clock } = this.#options
    const { signal } = this.#stopping
    while (!signal.aborted) {
      if (this.#supervisor.state(service.app.id) === 'running') {
        if (this.#untold.has(service.name)) await this.#tellFaults(service)
        await this.#ask(service)
      }
      await clock.delay(POLL_INTERVAL_MS, signal).catch(() => {}) // The loop's condition ends it.
    }
  }

  async #ask(service: Service): Promise<void> {
    const watched = this.#watchedByName.get(service.name)
    const health = await askHealth(service.url)
    if (watched === undefined) return
    watched.health = health
    if (health?.state === 'up') watched.wasUp = true
  }

  async #boundLogs(): Promise<void> {
    const { signal } = this.#stopping
    while (!signal.aborted) {
      this.#supervisor.boundLogs()
      await this.#options.clock.delay(LOG_CHECK_INTERVAL_MS, signal).catch(() => {}) // As above.
    }
  }

  /** One operation at a time on one node; others wait for it. */
  async #exclusively(node: string, work: (service: Service) => Promise<void>): Promise<void> {
    const service = this.#service(node)
    this.#stopping.signal.throwIfAborted()
    const before = this.#lastWorkByName.get(node) ?? Promise.resolve()
    const done = before.catch(() => {}).then(() => work(service))
    this.#lastWorkByName.set(node, done)
    await done
  }

  #service(name: string): Service {
    const service = this.#services.find((candidate) => candidate.name === name)
    if (service !== undefined) return service
    const names = this.#services.map((candidate) => candidate.name).join(', ')
    throw new ClusterError(`there is no node ${name}; there are ${names}`)
  }

  #assertRunning(id: string): void {
    if (this.#supervisor.pid(id) !== null) return
    const logFile = this.#options.prepared.directory.logFile(id)
    throw new ClusterError(`${id} does not run. Its log (${logFile}) ends with:\n${tail(logFile)}`)
  }
}

/**
 * Ends what a control plane of this directory left when it crashed: processes and sockets. Returns how
 * many processes that were.
 */
export async function cleanUp(directory: DataDirectory, clock: Clock): Promise<number> {
  const count = await endLeftovers(supervisorOptions(directory, clock))
  removeSockets(directory)
  return count
}

/** How the processes of a cluster are recorded and recognised. */
function supervisorOptions(directory: DataDirectory, clock: Clock) {
  return { recordFile: directory.processesFile, marker: directory.path, clock }
}

/** Where the sockets of a control plane that crashed are, if they are there. */
function keptSockets(directory: DataDirectory): string | null {
  const recorded = readJson(directory.socketsFile) as { readonly path: string } | null
  return recorded !== null && existsSync(recorded.path) ? recorded.path : null
}

function removeSockets(directory: DataDirectory): void {
  const recorded = readJson(directory.socketsFile) as { readonly path: string } | null
  if (recorded === null) return
  // Whatever that file says, nothing else is ever deleted.
  if (basename(recorded.path).startsWith(SOCKET_DIRECTORY_PREFIX))
    rmSync(recorded.path, { recursive: true, force: true })
  rmSync(directory.socketsFile, { force: true })
}

/** What makes no sense is refused before anything is done. */
function assertPossible(service: Service, spec: FaultSpec): void {
  const refuse = (why: string): never => {
    throw new ClusterError(`${service.name}: ${why}`)
  }
  if (spec.kind === 'lie' && service.kind !== 'scan') refuse('only super-validators can lie')
  if (service.kind !== 'synchronizer') return
  if (spec.kind === 'memory')
    refuse('the log keeps what nothing else holds; kill its Redis instead')
  if (spec.kind === 'partition' || ('edge' in spec && spec.edge !== 'http'))
    refuse('cut the nodes off from the log instead (--edge log)')
}

function idOf(service: Service, target: Target): string {
  return target.redis ? service.redis.id : service.app.id
}

function tail(file: string): string {
  try {
    return readFileSync(file, 'utf8').trimEnd().split('\n').slice(-LOG_TAIL_LINES).join('\n')
  } catch {
    return '(no log)'
  }
}
