/**
 * A running cluster: starts its services in order, breaks and mends them on request, tells how they are, and
 * stops them in the opposite order. How a service is run, and started again, is in `service-runner.ts`.
 */
import { rmSync } from 'node:fs'
import type { Clock } from '@quorumscan/base'
import { maxFaulty, quorumOf } from '@quorumscan/consensus'
import type { JobCounts, JobFailure } from '@quorumscan/jobs'
import { DAMAGE_ADVICE, describeDamage, type LogRedisAddress, verifyLog } from '@quorumscan/log'
import { ClusterError, messageOf } from './cluster-error.ts'
import type { DataDirectory } from './data-directory.ts'
import { askAgent } from './faults/agent-client.ts'
import { FaultControl, type FaultSelection } from './faults/fault-control.ts'
import { type Fault, type FaultSpec, nodesOf, type Part } from './faults/fault-spec.ts'
import { limitMemory } from './faults/redis-memory.ts'
import { logGenesisOf } from './genesis.ts'
import { logAddressOf, REPAIR_OF_MEMBERS, type RepairOutcome, repairLog } from './log-repair.ts'
import { type Prepared, SYNCHRONIZER } from './prepare.ts'
import { ServiceRunner } from './service-runner.ts'
import {
  keptSocketDirectory,
  makeSocketDirectory,
  removeSocketDirectory,
} from './socket-directory.ts'
import type { ClusterStatus, NodeStatus, ServiceStatus } from './status.ts'
import { endLeftovers, Supervisor } from './supervisor.ts'
import {
  assertPossible,
  type Hit,
  hitBy,
  idsOf,
  isPauseOf,
  scopeOf,
  type Target,
} from './targets.ts'
import { planLogRedis, planServices, type Service, type TopologyInput } from './topology.ts'

/** Longer than any log of one machine takes. */
const VERIFY_TIMEOUT_MS = 600_000

export type ClusterOptions = {
  readonly prepared: Prepared
  readonly topology: Omit<TopologyInput, 'prepared' | 'socketDirectory'>
  readonly clock: Clock
  /** Whether to rebuild every replica while it starts, one after the other, as `wipe` does. */
  readonly wipe: boolean
  /** Whether to take over what a control plane that crashed left running, and the faults in force. */
  readonly adopt?: boolean
  /** Where the console is served, with its token; null where it is not. */
  readonly consoleUrl: string | null
  /** Told one sentence for each step of the start. */
  readonly onStep: (sentence: string) => void
  /** Told what happened to a service without anybody's doing. */
  readonly onIncident: (node: string, sentence: string) => void
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

export class Cluster {
  readonly #options: ClusterOptions
  readonly #topology: TopologyInput
  readonly #services: readonly Service[]
  readonly #supervisor: Supervisor
  readonly #runner: ServiceRunner
  readonly #faults: FaultControl
  #isStarted = false
  /** What reads all of the log, or replaces it, one at a time. */
  #logWork: Promise<unknown> = Promise.resolve()
  #wipedNode: string | null = null
  #stopped: Promise<void> | null = null
  #adoptedCount = 0

  constructor(options: ClusterOptions) {
    this.#options = options
    const { directory } = options.prepared
    const kept = options.adopt === true ? keptSocketDirectory(directory) : null
    this.#topology = {
      ...options.topology,
      prepared: options.prepared,
      socketDirectory: kept ?? makeSocketDirectory(directory),
    }
    this.#services = planServices(this.#topology)
    this.#supervisor = new Supervisor({
      ...supervisorOptions(directory, options.clock),
      onEnd: (id, how) => this.#runner.noteEnd(id, how),
    })
    this.#runner = new ServiceRunner({
      services: this.#services,
      supervisor: this.#supervisor,
      clock: options.clock,
      faultsOf: ({ node }) => this.#faults.of(node),
      isKilled: (id) => this.#isKilled(id),
      logFileOf: (id) => directory.logFile(id),
      tell: options.onIncident,
      onRevived: () => this.#faults.refresh(),
    })
    this.#faults = new FaultControl({
      clock: options.clock,
      file: directory.faultsFile,
      effects: {
        begin: (spec) =>
          this.#runner.exclusively(spec.node, (service) => this.#begin(service, spec)),
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
    return new Set(running.flatMap(({ ports }) => ports))
  }

  /**
   * Starts everything that does not run and returns when all of it is ready, or cannot get ready while
   * enough is: then it tells what is wrong, and what to do. What is broken on purpose stays so, and nobody
   * waits for it. Stop the cluster when this throws.
   *
   * @throws {ClusterError} If names cannot be looked up with what there is; it names what is missing.
   */
  async start(): Promise<void> {
    const { onStep } = this.#options
    this.#isStarted = true
    onStep('starting Redis')
    await Promise.allSettled(
      this.#services
        .filter(({ redis }) => !this.#isKilled(redis.id))
        .map((service) => this.#runner.startRedis(service)),
    )
    const troubles: string[] = []
    // The nodes vouch for the synchronizer's clock, so neither is ready without the other.
    for (const kinds of [['synchronizer', 'scan'], ['validator']] as const) {
      const services = this.#services.filter(({ kind }) => kinds.some((one) => one === kind))
      onStep(`starting ${services.map((service) => service.name).join(', ')}`)
      await Promise.all(
        services.map((service) =>
          this.#runner.exclusively(service.node, () => this.#runner.startOrTakeOver(service)),
        ),
      )
      for (const service of services) void this.#runner.watch(service)
      if (this.#options.wipe)
        for (const { name } of services.filter(({ kind }) => kind !== 'synchronizer')) {
          onStep(`rebuilding the replica of ${name} from the log`)
          await this.wipe(name)
        }
      const whole = services.filter(({ node }) => this.#faults.of(node).length === 0)
      const outcomes = await Promise.allSettled(
        whole.map((service) => this.#runner.untilUp(service)),
      )
      const late = outcomes.flatMap((outcome) =>
        outcome.status === 'rejected' ? [messageOf(outcome.reason)] : [],
      )
      for (const sentence of late) onStep(sentence)
      troubles.push(...late)
      const upCountOf = (kind: Service['kind']) =>
        services.filter((service) => service.kind === kind).length -
        whole.filter(
          (service, index) => service.kind === kind && outcomes[index]?.status === 'rejected',
        ).length
      const n = this.#options.prepared.nodeNames.length
      const neededCountOf = (kind: Service['kind']) => {
        if (kind === 'scan') return maxFaulty(n) + 1
        // Who makes blocks, and the synchronizer that the validator follows.
        return kind === 'synchronizer' && this.#isOrderedTogether ? quorumOf(n) + 1 : 1
      }
      const tooFew = kinds.find((kind) => upCountOf(kind) < neededCountOf(kind))
      // A validator that registers nobody may answer lookups all the same.
      const isAnswering = tooFew === 'validator' && (await this.#runner.answersByQuorum())
      if (tooFew !== undefined && !isAnswering)
        throw new ClusterError(`too little is left to look names up:\n${troubles.join('\n')}`)
    }
    if (this.#faults.list().length === 0) {
      onStep('waiting for the first answer that enough nodes agree on')
      await this.#runner.untilQuorum()
    }
    void this.#runner.boundLogs()
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
        ordering: prepared.genesis.ordering.driver,
      },
      nodes: this.#services
        .filter(({ kind }) => kind === 'scan')
        .map((node) => this.#nodeStatus(node)),
      validator: this.#serviceStatus(this.#runner.service('validator')),
      synchronizer: this.#serviceStatus(this.#runner.service(SYNCHRONIZER)),
      members: this.#services
        .filter(({ node, name }) => node !== name)
        .map((member) => ({
          name: member.node,
          ...this.#serviceStatus(member),
          ordering: this.#runner.orderingOf(member),
        })),
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
  async inject(spec: FaultSpec, durationMs: number | null): Promise<Fault> {
    for (const node of nodesOf(spec)) assertPossible(this.#runner.servicesOf(node), spec)
    return await this.#faults.inject(spec, durationMs)
  }

  /** Ends faults: one, those of a node, or all. Returns those that were in force. */
  async heal(selection: FaultSelection): Promise<readonly Fault[]> {
    if (selection.node !== undefined) this.#runner.service(selection.node)
    return await this.#faults.heal(selection)
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
    const { faultSocket } = this.#runner.service(retried.node)
    if ((await askAgent(faultSocket, '/jobs/retry', retried)) !== true)
      throw new ClusterError(`${retried.node} has no queue ${retried.job}`)
  }

  /** The log's Redis. */
  logAddress(): LogRedisAddress {
    return logAddressOf(this.#runner.service('synchronizer'))
  }

  /**
   * Moves the horizon of a scan node: it refuses to read below the offset from then on.
   *
   * @returns The horizon: never less than before.
   * @throws {ClusterError} If the node does not answer, or has not reached the offset.
   */
  async prune(pruned: { node: string; to: number }): Promise<{ readonly horizon: number }> {
    const { kind, faultSocket } = this.#runner.service(pruned.node)
    if (kind !== 'scan') throw new ClusterError(`${pruned.node} is no scan node`)
    return (await askAgent(faultSocket, '/prune', { to: pruned.to })) as { horizon: number }
  }

  /** SIGKILL. */
  async kill(target: Target): Promise<void> {
    await this.inject({ kind: 'kill', ...target }, null)
  }

  /** SIGSTOP. @throws {ClusterError} If it does not run. */
  async pause(target: Target): Promise<void> {
    await this.inject({ kind: 'pause', ...target }, null)
  }

  /** SIGCONT. @throws {ClusterError} If it does not run. */
  async resume(target: Target): Promise<void> {
    const hit = this.#hitBy(target)
    if (hit.engineOf !== null) {
      const fault = this.#faults.list().find(({ spec }) => isPauseOf(spec, target))
      if (fault === undefined) throw new ClusterError(`the engine of ${target.node} is not paused`)
      await this.#faults.heal({ id: fault.id })
      return
    }
    await this.#runner.exclusively(target.node, async () => {
      await this.#resume(target.part, this.#runningOf(hit))
      for (const service of hit.services) {
        await this.#runner.tellFaults(service) // Its engine may be paused for itself.
        await this.#runner.ask(service)
      }
    })
    this.#faults.refresh()
  }

  /** Stops what runs of it, starts it, and waits until it is up, within bounds. */
  async restart(target: Target): Promise<void> {
    const { services, redis, engineOf } = this.#hitBy(target)
    if (engineOf !== null) return void (await askAgent(engineOf.faultSocket, '/engine/restart'))
    await this.#runner.exclusively(target.node, async (main) => {
      await Promise.all(services.map(({ app }) => this.#runner.stop(app.id)))
      if (redis !== null) await this.#runner.stop(redis.redis.id)
      await this.#runner.startRedis(main)
      for (const service of services) await this.#runner.startApp(service)
    })
    this.#faults.refresh()
    await Promise.all(services.map((service) => this.#runner.untilUpOrLate(service)))
  }

  /**
   * Deletes the replica of a node or of the validator, which then rebuilds it from the log. What does
   * not follow from the log stays (Rule 3). One replica at a time: the next one once this is back.
   *
   * @throws {ClusterError} For the synchronizer: the log is what everything else is rebuilt from. If the
   *   log is not whole, or what was wiped before is not back: nothing is deleted then.
   */
  wipe(node: string): Promise<void> {
    return this.#withLog(() => this.#wipe(node))
  }

  /**
   * Deletes all that a super-validator has on its disk but its keys: replica, log, and what its engine kept. It gets
   * all of it again from the others, and does not vote before it can sign nothing twice.
   *
   * @throws {ClusterError} If it does not order with others.
   */
  async wipeDisk(node: string): Promise<void> {
    const { services, redis } = this.#hitBy({ node, part: null })
    if (redis === null)
      throw new ClusterError(
        `${node} orders nothing; \`quorumscan wipe ${node}\` deletes its replica`,
      )
    await this.#runner.exclusively(node, async () => {
      await Promise.all(services.map(({ app }) => this.#runner.stop(app.id)))
      await this.#runner.deleteDisk(redis)
      for (const { engineDirectory } of services)
        if (engineDirectory !== null) rmSync(engineDirectory, { recursive: true, force: true })
      await this.#runner.startRedis(redis)
      for (const service of services) await this.#runner.startApp(service)
    })
    this.#faults.refresh()
    await Promise.all(services.map((service) => this.#runner.untilUpOrLate(service)))
  }

  /**
   * Makes a damaged log whole again, from what the nodes kept of it, or says why it cannot be. The synchronizer
   * stands still meanwhile. Of a cluster that was not started, only what Redis it needs is.
   *
   * @throws {ClusterError} If an end may be cut off while the cluster runs: its followers have read it.
   */
  repairLog(options: { readonly isCutAllowed: boolean }): Promise<RepairOutcome> {
    return this.#withLog(() => this.#repairLog(options))
  }

  #withLog<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#logWork.then(work)
    this.#logWork = done.catch(() => {})
    return done
  }

  async #repairLog({ isCutAllowed }: { readonly isCutAllowed: boolean }): Promise<RepairOutcome> {
    const runner = this.#runner
    if (this.#isOrderedTogether) throw new ClusterError(REPAIR_OF_MEMBERS)
    if (isCutAllowed && this.#isStarted)
      throw new ClusterError(
        'an end of the log is cut off only while nobody follows it: `quorumscan down` first',
      )
    const followers = this.#services.filter(({ kind }) => kind !== 'synchronizer')
    // Those that cannot start do not answer.
    if (!this.#isStarted)
      await Promise.allSettled(followers.map((service) => runner.startRedis(service)))
    const outcome = await runner.exclusively('synchronizer', async (service) => {
      await runner.stop(service.app.id)
      try {
        return await repairLog({
          ...this.#options.prepared,
          services: this.#services,
          spares: {
            copy: planLogRedis(this.#topology, 'synchronizer.copy'),
            repaired: planLogRedis(this.#topology, 'synchronizer.repaired'),
          },
          runner,
          isCutAllowed,
          clock: this.#options.clock,
        })
      } finally {
        if (this.#isStarted && !this.#isKilled(service.app.id)) {
          await runner.startRedis(service).catch(() => {}) // It is started again, and `status` tells of it.
          await runner.startApp(service)
        }
      }
    })
    this.#faults.refresh()
    if (!this.#isStarted || outcome.kind !== 'repaired') return outcome
    await runner.untilUp(runner.service('synchronizer')).catch(() => {}) // As above.
    for (const service of followers)
      if (runner.healthOf(service)?.code === 'LOG_REGRESSED')
        await this.restart({ node: service.name, part: null })
    return outcome
  }

  async #wipe(node: string): Promise<void> {
    const isLogShared = this.#isOrderedTogether
    await this.#runner.exclusively(node, async (service) => {
      if (service.kind === 'synchronizer')
        throw new ClusterError(
          'the synchronizer keeps the log, from which all replicas are rebuilt; it cannot be wiped',
        )
      this.#assertBack(node)
      // Of a log that many keep nobody's copy is the only one.
      if (!isLogShared) await this.#assertLogWhole()
      this.#wipedNode = node
      await this.#runner.stop(service.app.id)
      await this.#runner.deleteReplica(service, { isRedisShared: isLogShared })
      await this.#runner.startApp(service)
    })
    this.#faults.refresh()
    await this.#runner.untilUp(this.#runner.service(node)).catch((cause: unknown) => {
      throw new ClusterError(`${node} was wiped, but is not back: ${messageOf(cause)}`, { cause })
    })
  }

  /** Of replicas that are deleted and do not come back, one is enough. */
  #assertBack(node: string): void {
    const before = this.#wipedNode
    if (before === null || before === node) return
    const service = this.#runner.service(before)
    if (this.#runner.stateOf(service).state === 'up') return
    throw new ClusterError(
      `${node} is not wiped: ${before} was, and is not back yet; ${this.#runner.describeTrouble(service)}`,
    )
  }

  async #assertLogWhole(): Promise<void> {
    const verdict = await verifyLog({
      redis: this.logAddress(),
      genesis: logGenesisOf(this.#options.prepared.genesis),
      signal: AbortSignal.timeout(VERIFY_TIMEOUT_MS),
    }).catch((cause: unknown) => {
      throw new ClusterError(
        `no replica is deleted: the log cannot be read (${messageOf(cause)})`,
        {
          cause,
        },
      )
    })
    const [damage] = verdict.damages
    if (damage !== undefined)
      throw new ClusterError(`no replica is deleted: ${describeDamage(damage)} ${DAMAGE_ADVICE}`)
  }

  /** Stops everything in order: validator, nodes, synchronizer, then the Redis of each. Once. */
  stop(): Promise<void> {
    this.#stopped ??= this.#stopAll()
    return this.#stopped
  }

  async #stopAll(): Promise<void> {
    this.#faults.close()
    await this.#runner.stopAll()
    const { directory } = this.#options.prepared
    removeSocketDirectory(directory)
    rmSync(directory.faultsFile, { force: true })
  }

  async #begin(service: Service, spec: FaultSpec): Promise<void> {
    switch (spec.kind) {
      case 'kill':
      case 'pause': {
        const hit = this.#hitBy(spec)
        if (hit.engineOf !== null) return await this.#runner.tellFaults(hit.engineOf)
        if (spec.kind === 'kill')
          await Promise.all(idsOf(hit).map((id) => this.#supervisor.kill(id)))
        else
          for (const id of this.#runningOf(hit))
            await this.#supervisor.pause(id, scopeOf(spec.part))
        return
      }
      case 'memory':
        this.#runner.assertRunning(service.redis.id)
        return await limitMemory(service.redisAddress.socketPath, true)
      default:
        await this.#tell(spec)
    }
  }

  async #end(spec: FaultSpec): Promise<void> {
    const runner = this.#runner
    const hit = 'part' in spec ? this.#hitBy(spec) : null
    await runner.exclusively(spec.node, async (main) => {
      if (spec.kind === 'memory') {
        if (this.#supervisor.state(main.redis.id) === 'running')
          await limitMemory(main.redisAddress.socketPath, false)
      } else if (spec.kind === 'pause' && hit?.engineOf === null)
        await this.#resume(spec.part, idsOf(hit))
      else if (spec.kind === 'kill' && hit?.engineOf === null) {
        if (!this.#isKilled(main.redis.id)) await runner.startRedis(main)
        for (const service of hit.services)
          if (this.#supervisor.pid(service.app.id) === null && !this.#isKilled(service.app.id))
            await runner.startApp(service)
      }
      await this.#tell(spec)
    })
    const started = spec.kind === 'kill' ? (hit?.services ?? []) : []
    const whole = started.filter(({ app }) => !this.#isKilled(app.id))
    await Promise.all(whole.map((service) => runner.untilUpOrLate(service)))
    for (const service of runner.servicesOf(spec.node)) await runner.ask(service)
  }

  /** Tells everybody whom a fault is about what is in force now. */
  async #tell(spec: FaultSpec): Promise<void> {
    for (const node of nodesOf(spec))
      for (const service of this.#runner.servicesOf(node)) await this.#runner.tellFaults(service)
  }

  #isInForce(spec: FaultSpec): boolean {
    if (!('part' in spec)) return true
    const hit = this.#hitBy(spec)
    const wanted = spec.kind === 'kill' ? 'gone' : 'stopped'
    return hit.engineOf !== null || idsOf(hit).some((id) => this.#supervisor.state(id) === wanted)
  }

  /** @throws {ClusterError} If there is no such node, or it has no such part. */
  #hitBy({ node, part }: Target): Hit {
    return hitBy(this.#runner.servicesOf(node), part)
  }

  /** The processes of it that run. @throws {ClusterError} If none does. */
  #runningOf(hit: Hit): readonly string[] {
    const ids = idsOf(hit)
    const running = ids.filter((id) => this.#supervisor.pid(id) !== null)
    if (running.length === 0) for (const id of ids) this.#runner.assertRunning(id)
    return running
  }

  async #resume(part: Part | null, ids: readonly string[]): Promise<void> {
    for (const id of ids) await this.#supervisor.resume(id, scopeOf(part))
  }

  /** Whether a process is killed on purpose. */
  #isKilled(id: string): boolean {
    return this.#faults
      .list()
      .some(({ spec }) => spec.kind === 'kill' && idsOf(this.#hitBy(spec)).includes(id))
  }

  get #isOrderedTogether(): boolean {
    return this.#options.prepared.genesis.ordering.driver === 'cometbft'
  }

  #nodeStatus(service: Service): NodeStatus {
    const health = this.#runner.healthOf(service)
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
      ...this.#runner.stateOf(service),
      pid: this.#supervisor.pid(service.app.id),
      redisPid: this.#supervisor.pid(service.redis.id),
    }
  }
}

/**
 * Ends what a control plane of this directory left when it crashed: processes and sockets. Returns how
 * many processes that were.
 */
export async function cleanUp(directory: DataDirectory, clock: Clock): Promise<number> {
  const count = await endLeftovers(supervisorOptions(directory, clock))
  removeSocketDirectory(directory)
  return count
}

/** How the processes of a cluster are recorded and recognised. */
function supervisorOptions(directory: DataDirectory, clock: Clock) {
  return { recordFile: directory.processesFile, marker: directory.path, clock }
}
