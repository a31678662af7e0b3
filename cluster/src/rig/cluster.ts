/**
 * A running cluster: starts its services in order, reports how they are, and stops them in the opposite order. How a
 * service is run, and started again, is in `ServiceRunner` of the supervisor; what is broken on purpose in
 * `faults/fault-runner.ts`; what is deleted and rebuilt on disks in `disk-work.ts`.
 */
import { rmSync } from 'node:fs'
import { type Clock, waitFor } from '@quorumscan/base'
import { openNodeQueues } from '@quorumscan/jobs'
import type { DataDirectory } from '@quorumscan/operator'
import { ask, CommandError, messageOf } from '@quorumscan/runtime'
import type { Service, ServiceStatus } from '@quorumscan/supervisor'
import {
  endLeftovers,
  keptSocketDirectory,
  makeSocketDirectory,
  removeSocketDirectory,
  ServiceRunner,
} from '@quorumscan/supervisor'
import { blockQuorumOf, maxFaulty, quorumOf } from '@quorumscan/verifier'
import { FaultRunner } from '../faults/fault-runner.ts'
import { SYNCHRONIZER, VALIDATOR } from './cluster-shape.ts'
import { DiskWork } from './disk-work.ts'
import type { Prepared } from './prepare.ts'
import { planServices, type TopologyInput } from './topology.ts'

/** How long the Redis of a node may take to answer: the console waits. */
const JOBS_TIMEOUT_MS = 1_000
/** The scan proxy waits 2 s for its nodes (D-38). */
const QUORUM_TIMEOUT_MS = 3000
/** From the last ready process to the first answer that enough nodes agree on. */
const ANSWER_TIMEOUT_MS = 60_000

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

export class Cluster {
  readonly #options: ClusterOptions
  readonly #services: readonly Service[]
  readonly #runner: ServiceRunner
  readonly #adoptedCount: number
  #stopped: Promise<void> | null = null
  /** What is broken on purpose. */
  readonly faults: FaultRunner
  /** What is deleted and rebuilt on disks. */
  readonly disks: DiskWork

  constructor(options: ClusterOptions) {
    this.#options = options
    const { prepared, clock, onIncident } = options
    const { directory } = prepared
    const kept = options.adopt === true ? keptSocketDirectory(directory) : null
    const topology = {
      ...options.topology,
      prepared,
      socketDirectory: kept ?? makeSocketDirectory(directory),
    }
    const services = planServices(topology)
    const runner = new ServiceRunner({
      ...directory.processes,
      ...{ services, clock, isCluster: true },
      tell: (node, sentence) => onIncident(node, sentence, 'ended'),
    })
    const faults = new FaultRunner({
      ...{ services: runner, clock },
      file: directory.faultsFile,
      dataDirectory: directory.path,
      onMalformed: (node, sentence) => onIncident(node, sentence, 'malformed'),
    })
    runner.hooks = faults
    this.#services = services
    this.#runner = runner
    this.faults = faults
    this.disks = new DiskWork({ prepared, topology, services, runner, faults, clock })
    this.#adoptedCount =
      kept === null ? 0 : runner.processes.adopt(services.flatMap(({ app, redis }) => [app, redis]))
    if (this.#adoptedCount > 0) faults.restore()
  }

  /** Ends what a control plane that crashed left running, where this one has not taken it over. */
  async endOthers(): Promise<{ readonly adopted: number; readonly ended: number }> {
    return { adopted: this.#adoptedCount, ended: await this.#runner.processes.endOthers() }
  }

  /** The ports on which processes that run already listen. */
  portsInUse(): ReadonlySet<number> {
    const running = this.#services.filter(({ app }) => this.#runner.processes.pid(app.id) !== null)
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
    this.disks.isClusterStarted = true
    onStep('starting Redis')
    await Promise.allSettled(
      this.#services
        .filter(({ redis }) => this.faults.mayStart(redis.id))
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
      for (const service of services) this.#runner.watch(service)
      if (this.#options.wipe)
        for (const { name } of services.filter(({ kind }) => kind !== 'synchronizer')) {
          onStep(`rebuilding the replica of ${name} from the log`)
          await this.disks.wipe(name)
        }
      const whole = services.filter(({ node }) => this.faults.of(node).length === 0)
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
      const isAnswering = tooFew === 'validator' && (await this.#answersByQuorum())
      if (tooFew !== undefined && !isAnswering)
        throw new CommandError(`too little is left to look names up:\n${troubles.join('\n')}`)
    }
    if (this.faults.active().length === 0) {
      onStep('waiting for the first answer that enough nodes agree on')
      await this.#untilAnswered()
    }
    this.#runner.boundLogs()
  }

  /** From what was last heard: asks nobody, so that no paused process delays it. */
  status() {
    const { prepared } = this.#options
    const n = prepared.nodeNames.length
    const f = maxFaulty(n)
    return {
      cluster: {
        n,
        f,
        readThreshold: f + 1,
        confirmThreshold: quorumOf(n),
        /** Of members that order together. */
        blockThreshold: blockQuorumOf(n),
        genesisHash: prepared.genesisHash,
        ordering: prepared.genesis.ordering.driver,
      },
      nodes: this.#services
        .filter(({ kind }) => kind === 'scan')
        .map((node) => ({
          name: node.name,
          ...this.#serviceStatus(node),
          /** As the node wrote it; of the entry at `offset`. */
          recordTime: this.#runner.health.healthOf(node)?.recordTime ?? null,
        })),
      validator: this.#serviceStatus(this.#runner.service('validator')),
      /** The one that the validator follows. */
      synchronizer: this.#serviceStatus(this.#runner.service(SYNCHRONIZER)),
      /** Where all order together: the synchronizer of each node, by the node's name. */
      members: this.#services
        .filter(({ node, name }) => node !== name)
        .map((member) => ({
          name: member.node,
          ...this.#serviceStatus(member),
          /** As it reported last; null while it does not answer. */
          ordering: this.#runner.health.healthOf(member)?.ordering ?? null,
        })),
      console: this.#options.consoleUrl === null ? null : { url: this.#options.consoleUrl },
      dataDir: prepared.directory.path,
    }
  }

  /** What runs under the name of a node, what has that name first. @throws {CommandError} If there is no such node. */
  servicesOf(node: string): readonly [Service, ...Service[]] {
    return this.#runner.servicesOf(node)
  }

  /** What is in the job queues of each process, and which jobs were dropped; null where its Redis does not answer. */
  async jobs() {
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

  /**
   * Moves the horizon of a scan node: it refuses to read below the offset from then on.
   *
   * @returns The horizon: never less than before.
   * @throws {CommandError} If the node does not answer, or has not reached the offset.
   */
  async prune(pruned: { node: string; to: number }): Promise<{ readonly horizon: number }> {
    const service = this.#runner.service(pruned.node)
    if (service.kind !== 'scan') throw new CommandError(`${pruned.node} is no scan node`)
    return await this.faults.agents.ask(service, '/prune', { to: pruned.to })
  }

  /** Stops everything in order: validator, nodes, synchronizer, then the Redis of each. Once. */
  stop(): Promise<void> {
    this.#stopped ??= this.#stopAll()
    return this.#stopped
  }

  async #stopAll(): Promise<void> {
    this.faults.close()
    await this.#runner.stopAll()
    const { directory } = this.#options.prepared
    removeSocketDirectory(directory)
    rmSync(directory.faultsFile, { force: true })
  }

  get #isOrderedTogether(): boolean {
    return this.#options.prepared.genesis.ordering.driver === 'cometbft'
  }

  /** Whether the validator gets an answer that enough nodes agree on. */
  async #answersByQuorum(): Promise<boolean> {
    const url = `${this.#runner.service(VALIDATOR).url}/v0/scan-proxy/dso-party-id`
    return (await ask(url, { timeoutMs: QUORUM_TIMEOUT_MS })).status === 200
  }

  /** Processes that are ready are not enough: the validator must have reached the nodes, too. */
  async #untilAnswered(): Promise<void> {
    await waitFor(
      async () => {
        this.#runner.assertRunning(VALIDATOR)
        return (await this.#answersByQuorum()) ? true : undefined
      },
      {
        clock: this.#options.clock,
        timeoutMs: ANSWER_TIMEOUT_MS,
        what: 'the validator to get an answer that enough nodes agree on',
      },
    )
  }

  #serviceStatus(service: Service): ServiceStatus {
    return {
      url: service.url,
      ...this.#runner.health.stateOf(service),
      pid: this.#runner.processes.pid(service.app.id),
      redisPid: this.#runner.processes.pid(service.redis.id),
      offset: this.#runner.health.healthOf(service)?.offset ?? null,
    }
  }
}

/**
 * Ends what a control plane of this directory left when it crashed: processes and sockets. Returns how
 * many processes that were.
 */
export async function cleanUp(directory: DataDirectory, clock: Clock): Promise<number> {
  const count = await endLeftovers({ ...directory.processes, clock })
  removeSocketDirectory(directory)
  return count
}
