/**
 * A running cluster: starts its services in order, tells how they are, and stops them in the opposite order. How a service
 * is run, and started again, is in `service-runner.ts`; what is broken on purpose in `breakage.ts`; what is deleted and
 * rebuilt on disks in `disk-work.ts`.
 */

import { rmSync } from 'node:fs'
import type { Clock } from '@quorumscan/base'
import { type NodeJobs, openNodeQueues } from '@quorumscan/jobs'
import type { DataDirectory, RepairOutcome } from '@quorumscan/operator'
import { CommandError, messageOf } from '@quorumscan/runtime'
import type { LocalRedis, Service, ServiceStatus } from '@quorumscan/supervisor'
import {
  endLeftovers,
  keptSocketDirectory,
  makeSocketDirectory,
  removeSocketDirectory,
  ServiceRunner,
  Supervisor,
} from '@quorumscan/supervisor'
import { blockQuorumOf, maxFaulty, quorumOf } from '@quorumscan/verifier'
import { Breakage } from './breakage.ts'
import { SYNCHRONIZER } from './cluster-shape.ts'
import { DiskWork, type RepairOptions } from './disk-work.ts'
import type { FaultSelection } from './faults/fault-control.ts'
import { FaultDelivery } from './faults/fault-delivery.ts'
import type { Fault, FaultSpec } from './faults/fault-spec.ts'
import type { Prepared } from './prepare.ts'
import type { ClusterStatus, NodeStatus } from './status.ts'
import type { Target } from './targets.ts'
import { planServices, type TopologyInput } from './topology.ts'

/** How long the Redis of a node may take to answer: the console waits. */
const JOBS_TIMEOUT_MS = 1_000

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
  /** Receives what happened to a service without a command. */
  readonly onIncident: (node: string, sentence: string, kind: 'ended' | 'malformed') => void
}

/** The automation of one process. */
export type ServiceJobs = {
  readonly node: string
  /** Null where its Redis does not answer. */
  readonly jobs: NodeJobs | null
}

export class Cluster {
  readonly #options: ClusterOptions
  readonly #services: readonly Service[]
  readonly #supervisor: Supervisor
  readonly #runner: ServiceRunner
  readonly #delivery: FaultDelivery
  readonly #breakage: Breakage
  readonly #diskWork: DiskWork
  #isStarted = false
  #stopped: Promise<void> | null = null
  #adoptedCount = 0

  constructor(options: ClusterOptions) {
    this.#options = options
    const { directory } = options.prepared
    const kept = options.adopt === true ? keptSocketDirectory(directory) : null
    const topology = {
      ...options.topology,
      prepared: options.prepared,
      socketDirectory: kept ?? makeSocketDirectory(directory),
    }
    this.#services = planServices(topology)
    this.#supervisor = new Supervisor({
      ...supervisorOptions(directory, options.clock),
      onEnd: (id, how) => this.#runner.noteEnd(id, how),
    })
    this.#delivery = new FaultDelivery({
      faultsOf: (node) => this.#breakage.of(node),
      isKilled: (id) => this.#breakage.isKilled(id),
      isRunning: (id) => this.#supervisor.state(id) === 'running',
      noteMalformed: (node, sentence) => options.onIncident(node, sentence, 'malformed'),
    })
    this.#runner = new ServiceRunner({
      services: this.#services,
      supervisor: this.#supervisor,
      clock: options.clock,
      isCluster: true,
      hooks: this.#delivery,
      tell: (node, sentence) => options.onIncident(node, sentence, 'ended'),
      onRevived: () => this.#breakage.refresh(),
    })
    this.#breakage = new Breakage({
      delivery: this.#delivery,
      runner: this.#runner,
      supervisor: this.#supervisor,
      clock: options.clock,
      faultsFile: directory.faultsFile,
      dataDirectory: directory.path,
    })
    this.#diskWork = new DiskWork({
      prepared: options.prepared,
      topology,
      services: this.#services,
      runner: this.#runner,
      breakage: this.#breakage,
      clock: options.clock,
    })
    if (kept === null) return
    this.#adoptedCount = this.#supervisor.adopt(
      this.#services.flatMap(({ app, redis }) => [app, redis]),
    )
    if (this.#adoptedCount > 0) this.#breakage.restore()
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
   * @throws {CommandError} If names cannot be looked up with what there is; it names what is missing.
   */
  async start(): Promise<void> {
    const { onStep } = this.#options
    this.#isStarted = true
    onStep('starting Redis')
    await Promise.allSettled(
      this.#services
        .filter(({ redis }) => !this.#breakage.isKilled(redis.id))
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
      const whole = services.filter(({ node }) => this.#breakage.of(node).length === 0)
      const failed: Service[] = []
      const n = this.#options.prepared.nodeNames.length
      const neededCountOf = (kind: Service['kind']) => {
        if (kind === 'scan') return maxFaulty(n) + 1
        // Who makes blocks, and the synchronizer that the validator follows.
        return kind === 'synchronizer' && this.#isOrderedTogether ? blockQuorumOf(n) + 1 : 1
      }
      const findTooFew = () =>
        kinds.find((kind) => {
          const isLeft = (service: Service) => service.kind === kind && !failed.includes(service)
          return services.filter(isLeft).length < neededCountOf(kind)
        })
      const givingUp = new AbortController()
      await Promise.all(
        whole.map((service) =>
          this.#runner.untilUp(service, givingUp.signal).catch((error: unknown) => {
            failed.push(service)
            troubles.push(messageOf(error))
            onStep(messageOf(error))
            // None of the others gets ready without these.
            if (findTooFew() !== undefined) givingUp.abort()
          }),
        ),
      )
      const tooFew = findTooFew()
      // A validator that registers nobody may answer lookups all the same.
      const isAnswering = tooFew === 'validator' && (await this.#runner.answersByQuorum())
      if (tooFew !== undefined && !isAnswering)
        throw new CommandError(`too little is left to look names up:\n${troubles.join('\n')}`)
    }
    if (this.#breakage.list().length === 0) {
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
        blockThreshold: blockQuorumOf(n),
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
          ordering: this.#runner.health.orderingOf(member),
        })),
      console: this.#options.consoleUrl === null ? null : { url: this.#options.consoleUrl },
      dataDir: prepared.directory.path,
    }
  }

  /** The faults in force, in the order in which they began. */
  faults(): readonly Fault[] {
    return this.#breakage.list()
  }

  /**
   * Breaks something, for a time or until it is healed. Returns when the fault is in force.
   *
   * @throws {CommandError} If the fault makes no sense there.
   */
  inject(spec: FaultSpec, durationMs: number | null): Promise<Fault> {
    return this.#breakage.inject(spec, durationMs)
  }

  /** Ends faults: one, those of a node, or all. Returns those that were in force. */
  heal(selection: FaultSelection): Promise<readonly Fault[]> {
    return this.#breakage.heal(selection)
  }

  /** What runs under the name of a node, what has that name first. @throws {CommandError} If there is no such node. */
  servicesOf(node: string): readonly [Service, ...Service[]] {
    return this.#runner.servicesOf(node)
  }

  /** What is in the job queues of each process, and which jobs were dropped; null where its Redis does not answer. */
  async jobs(): Promise<readonly ServiceJobs[]> {
    const services = this.#services.filter(({ kind }) => kind !== 'synchronizer')
    return await Promise.all(
      services.map(async (service) => ({
        node: service.name,
        jobs: await this.#atQueues(service, (queues) => queues.list()).catch(() => null),
      })),
    )
  }

  /** Adds a dropped job again. @throws {CommandError} If its Redis does not answer, or the node has no such queue. */
  async retryJob(retried: { node: string; job: string; contractId: string }): Promise<void> {
    const service = this.#runner.service(retried.node)
    if (!(await this.#atQueues(service, (queues) => queues.retry(retried))))
      throw new CommandError(`${retried.node} has no queue ${retried.job}`)
  }

  async #atQueues<T>(
    { kind, redisAddress }: Service,
    work: (queues: Awaited<ReturnType<typeof openNodeQueues>>) => Promise<T>,
  ): Promise<T> {
    if (kind === 'synchronizer') throw new CommandError('a synchronizer has no jobs')
    const { clock } = this.#options
    const timeoutMs = JOBS_TIMEOUT_MS
    await using queues = await openNodeQueues({ redis: redisAddress, kind, clock, timeoutMs })
    return await work(queues)
  }

  /** The log's Redis. */
  logAddress(): LocalRedis {
    return this.#runner.service('synchronizer').redisAddress
  }

  /**
   * Moves the horizon of a scan node: it refuses to read below the offset from then on.
   *
   * @returns The horizon: never less than before.
   * @throws {CommandError} If the node does not answer, or has not reached the offset.
   */
  async prune(pruned: { node: string; to: number }): Promise<{ readonly horizon: number }> {
    const service = this.#runner.service(pruned.node)
    if (service.kind !== 'scan') throw new CommandError(`${pruned.node} is no scan node`)
    return await this.#delivery.agents.ask(service, '/prune', { to: pruned.to })
  }

  /** SIGKILL. */
  async kill(target: Target): Promise<void> {
    await this.inject({ kind: 'kill', ...target }, null)
  }

  /** SIGSTOP. @throws {CommandError} If it does not run. */
  async pause(target: Target): Promise<void> {
    await this.inject({ kind: 'pause', ...target }, null)
  }

  /** SIGCONT. @throws {CommandError} If it does not run. */
  resume(target: Target): Promise<void> {
    return this.#breakage.resume(target)
  }

  /** Stops what runs of it, starts it, and waits until it is up, within bounds. */
  restart(target: Target): Promise<void> {
    return this.#breakage.restart(target)
  }

  /** Deletes a replica, as `DiskWork` does. @throws {CommandError} If that would lose anything; nothing is deleted then. */
  wipe(node: string): Promise<void> {
    return this.#diskWork.wipe(node)
  }

  /** Deletes all that a super-validator has on its disk but its keys. @throws {CommandError} If it does not order with others. */
  wipeDisk(node: string): Promise<void> {
    return this.#diskWork.wipeDisk(node)
  }

  /** Makes a damaged log whole again. @throws {CommandError} If an end may be cut off while the cluster runs. */
  repairLog({ isCutAllowed }: Pick<RepairOptions, 'isCutAllowed'>): Promise<RepairOutcome> {
    return this.#diskWork.repairLog({ isStarted: this.#isStarted, isCutAllowed })
  }

  /** Stops everything in order: validator, nodes, synchronizer, then the Redis of each. Once. */
  stop(): Promise<void> {
    this.#stopped ??= this.#stopAll()
    return this.#stopped
  }

  async #stopAll(): Promise<void> {
    this.#breakage.close()
    await this.#runner.stopAll()
    const { directory } = this.#options.prepared
    removeSocketDirectory(directory)
    rmSync(directory.faultsFile, { force: true })
  }

  get #isOrderedTogether(): boolean {
    return this.#options.prepared.genesis.ordering.driver === 'cometbft'
  }

  #nodeStatus(service: Service): NodeStatus {
    const health = this.#runner.health.healthOf(service)
    return {
      name: service.name,
      ...this.#serviceStatus(service),
      recordTime: health?.recordTime ?? null,
    }
  }

  #serviceStatus(service: Service): ServiceStatus {
    return {
      url: service.url,
      ...this.#runner.health.stateOf(service),
      pid: this.#supervisor.pid(service.app.id),
      redisPid: this.#supervisor.pid(service.redis.id),
      offset: this.#runner.health.offsetOf(service),
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
