/**
 * A running cluster: starts its services in order, reports their status, and stops them in the opposite order. Services run
 * and restart in `ServiceRunner` of the supervisor; faults are in `faults/fault-runner.ts`; work on disks is in
 * `disk-work.ts`.
 */
import { rmSync } from 'node:fs'
import { type Clock, waitFor } from '@quorumscan/base'
import type { DataDirectory } from '@quorumscan/operator'
import { openNodeQueues } from '@quorumscan/operator/jobs'
import { comfortableMib, readOverfullBytes } from '@quorumscan/operator/run'
import { ask, CommandError, messageOf } from '@quorumscan/runtime'
import type { Service } from '@quorumscan/supervisor'
import {
  endLeftovers,
  existingSocketDirectory,
  makeSocketDirectory,
  removeSocketDirectory,
  ServiceRunner,
} from '@quorumscan/supervisor'
import { memberSetOf } from '@quorumscan/verifier'
import { FaultRunner } from '../faults/fault-runner.ts'
import { SYNCHRONIZER, VALIDATOR } from './cluster-shape.ts'
import { DiskWork } from './disk-work.ts'
import { judgedHealth } from './judge-members.ts'
import type { Prepared } from './prepare.ts'
import { faultsFileOf } from './rig-files.ts'
import { planServices, type TopologyInput } from './topology.ts'

const MIB = 2 ** 20
/** The time limit for an answer of a node's Redis. The console waits for it. */
const JOBS_TIMEOUT_MS = 1_000
/** The scan proxy waits 2 s for its nodes (D-38). */
const PROXY_TIMEOUT_MS = 3000
/** The longest time from the last ready process to the first answer on which enough nodes agree. */
const ANSWER_TIMEOUT_MS = 60_000

export type ClusterOptions = {
  readonly prepared: Prepared
  readonly topology: Omit<TopologyInput, 'prepared' | 'socketDirectory'>
  readonly clock: Clock
  /** Whether to rebuild every replica during the start, one after the other, as `wipe` does. */
  readonly wipe: boolean
  /** The address of the console, with its token; null where it is not built. */
  readonly consoleUrl: string | null
  /** Receives a sentence for each step of the start. */
  readonly onStep: (sentence: string) => void
  /** Receives what happened to a service without a command. */
  readonly onIncident: (node: string, sentence: string, kind: 'ended' | 'malformed') => void
}

/**
 * A cluster in one data directory. It takes over the processes of a control plane that crashed, and the faults in force. It
 * owns the directory's processes until `stop` has returned.
 */
export class Cluster {
  readonly #options: ClusterOptions
  readonly #services: readonly Service[]
  readonly #runner: ServiceRunner
  readonly #adoptedCount: number
  #stopped: Promise<void> | null = null
  readonly faults: FaultRunner
  readonly disks: DiskWork

  constructor(options: ClusterOptions) {
    this.#options = options
    const { prepared, clock, onIncident } = options
    const { directory } = prepared
    const path = existingSocketDirectory(directory)
    const socketDirectory = path ?? makeSocketDirectory(directory)
    const topology = { ...options.topology, prepared, socketDirectory }
    const services = planServices(topology)
    const runner = new ServiceRunner({
      ...directory.processes,
      services,
      clock,
      isCluster: true,
      onIncident: (node, sentence) => onIncident(node, sentence, 'ended'),
    })
    const faults = new FaultRunner({
      services: runner,
      clock,
      file: faultsFileOf(directory),
      dataDirectory: directory.path,
      onMalformed: (node, sentence) => onIncident(node, sentence, 'malformed'),
    })
    runner.hooks = faults
    this.#services = services
    this.#runner = runner
    this.faults = faults
    this.disks = new DiskWork({ prepared, topology, services, runner, faults, clock })
    this.#adoptedCount =
      path === null ? 0 : runner.processes.adopt(services.flatMap(({ app, redis }) => [app, redis]))
    if (this.#adoptedCount > 0) faults.restore()
  }

  /** Ends the processes of a control plane that crashed, except those that this one has taken over. */
  async endOthers() {
    return { adopted: this.#adoptedCount, ended: await this.#runner.processes.endOthers() }
  }

  /** The ports of the processes that run. */
  portsInUse(): ReadonlySet<number> {
    const running = this.#services.filter(({ app }) => this.#runner.processes.pid(app.id) !== null)
    return new Set(running.flatMap(({ ports }) => ports))
  }

  /**
   * Starts all services that do not run. Returns once all are ready, or enough are and the others cannot start: then it
   * reports what is wrong, and what to do. Faults in force stay, and nothing waits for services with a fault. Stop the
   * cluster when this throws.
   *
   * @throws {CommandError} If too few services are up for lookups, with the problems.
   */
  async start(): Promise<void> {
    const { onStep, clock } = this.#options
    this.disks.isClusterStarted = true
    onStep('starting Redis')
    const startable = this.#services.filter(({ redis }) => this.faults.mayStart(redis.id))
    await Promise.allSettled(startable.map((service) => this.#runner.startRedis(service)))
    await this.#refuseOverfull(startable)
    const start = (service: Service) =>
      this.#runner.exclusively(service.owner, () => this.#runner.startOrTakeOver(service))
    const problems: string[] = []
    // The nodes confirm the synchronizer's clock, so neither is ready without the other.
    for (const kinds of [['synchronizer', 'scan'], ['validator']] as const) {
      const services = this.#services.filter(({ kind }) => kinds.some((one) => one === kind))
      onStep(`starting ${services.map((service) => service.name).join(', ')}`)
      await Promise.all(services.map(start))
      for (const service of services) this.#runner.watch(service)
      if (this.#options.wipe)
        for (const { name } of services.filter(({ kind }) => kind !== 'synchronizer')) {
          onStep(`rebuilding the replica of ${name} from the log`)
          await this.disks.wipe(name)
        }
      const failed: Service[] = []
      const findTooFew = () =>
        kinds.find((kind) => {
          const rest = services.filter((one) => one.kind === kind && !failed.includes(one))
          return rest.length < this.#neededCountOf(kind)
        })
      const givingUp = new AbortController()
      const untilUp = async (service: Service) => {
        if (this.faults.specsOf(service.owner).length > 0) return
        await this.#runner.untilUp(service, givingUp.signal).catch((error: unknown) => {
          failed.push(service)
          problems.push(messageOf(error))
          onStep(messageOf(error))
          // The others cannot get ready without these.
          if (findTooFew() !== undefined) givingUp.abort()
        })
      }
      await Promise.all(services.map(untilUp))
      const tooFew = findTooFew()
      // A validator that cannot register users may still answer lookups.
      const isAnswering = tooFew === 'validator' && (await this.#isValidatorAnswering())
      if (tooFew !== undefined && !isAnswering)
        throw new CommandError(`too few processes are up for lookups:\n${problems.join('\n')}`)
    }
    if (this.faults.active().length === 0) {
      onStep('waiting for the first answer on which enough nodes agree')
      // Ready processes are not enough: the validator must also have reached the nodes.
      const isAnswered = async () => {
        this.#runner.assertRunning(VALIDATOR)
        return (await this.#isValidatorAnswering()) ? true : undefined
      }
      const what = 'the validator to get an answer on which enough nodes agree'
      await waitFor(isAnswered, { clock, timeoutMs: ANSWER_TIMEOUT_MS, what })
    }
    this.#runner.boundLogs()
  }

  /** @throws {CommandError} If a Redis holds more than its share of the budget: it would refuse all writes. */
  async #refuseOverfull(startable: readonly Service[]): Promise<void> {
    // A fault may have filled the memory.
    const services = startable.filter(({ owner }) => this.faults.specsOf(owner).length === 0)
    const used = await Promise.all(
      // What does not answer yet is started again later.
      services.map((service) => readOverfullBytes(service).catch(() => null)),
    )
    const most = Math.max(0, ...used.map((bytes) => bytes ?? 0))
    const full = services.filter((_, index) => used[index] !== null)
    if (full.length === 0) return
    const shares = new Set(this.#services.map(({ redis }) => redis.id)).size
    const names = full.map(({ name }) => name).join(', ')
    const needed = comfortableMib(most) * shares
    const held = Math.ceil(most / MIB)
    const given = Math.floor((full[0]?.redisMemoryBytes ?? 0) / MIB)
    throw new CommandError(
      `the Redis of ${names} holds up to ${held} MiB, and has ${given} MiB: it would refuse all writes. ` +
        `\`quorumscan up --redis-memory ${needed}\` gives each of ${shares} enough`,
    )
  }

  /** How many services of a kind lookups need. */
  #neededCountOf(kind: Service['kind']): number {
    const { genesis } = this.#options.prepared
    const { f, blockQuorum } = memberSetOf(genesis)
    if (kind === 'scan') return f + 1
    // Members that make blocks, and the synchronizer that the validator follows.
    const isShared = kind === 'synchronizer' && genesis.ordering.driver === 'cometbft'
    return isShared ? blockQuorum + 1 : 1
  }

  /** The status by the latest reports. Sends no request, so that no paused process delays it. */
  status() {
    const { prepared } = this.#options
    const { n, f, quorum, blockQuorum } = memberSetOf(prepared.genesis)
    const { health } = this.#runner
    const reports = this.#services.map((service) => health.healthOf(service)?.members ?? null)
    return {
      cluster: {
        n,
        f,
        readThreshold: f + 1,
        confirmThreshold: quorum,
        /** Votes of members that a block needs. */
        blockThreshold: blockQuorum,
        genesisHash: prepared.genesisHash,
        ordering: prepared.genesis.ordering.driver,
      },
      nodes: this.#services
        .filter(({ kind }) => kind === 'scan')
        .map((node) => ({
          name: node.name,
          ...health.statusOf(node),
          /** The record time of the entry at `offset`, as the node reports it. */
          recordTime: health.healthOf(node)?.recordTime ?? null,
          /** As the processes that answer judge it; null while too few do. */
          health: judgedHealth(node.name, reports, f + 1),
        })),
      validator: health.statusOf(this.#runner.service('validator')),
      /** The synchronizer that the validator follows. */
      synchronizer: health.statusOf(this.#runner.service(SYNCHRONIZER)),
      /** The synchronizer of each node, with the node's name, where members order together. */
      members: this.#services
        .filter(({ owner, name }) => owner !== name)
        .map((member) => ({
          name: member.owner,
          ...health.statusOf(member),
          /** The latest report; null while it does not answer. */
          ordering: health.healthOf(member)?.ordering ?? null,
        })),
      console: this.#options.consoleUrl === null ? null : { url: this.#options.consoleUrl },
      dataDir: prepared.directory.path,
    }
  }

  /** The services of a node, the one with its name first. @throws {UsageError} If there is no such node. */
  servicesOf(node: string): readonly [Service, ...Service[]] {
    return this.#runner.servicesOf(node)
  }

  /** The job queues of each process, with the dropped jobs; null where its Redis does not answer. */
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
   * Deletes history: the reads of a scan node below an offset.
   *
   * @returns The offset that is now in force: an earlier pruning may have gone further.
   * @throws {CommandError} If the node does not answer, or refuses, e.g. because it has not reached the offset.
   */
  prune({ node, to }: { node: string; to: number }): Promise<{ readonly horizon: number }> {
    return this.faults.askAgent(this.#runner.service(node), '/prune', { to })
  }

  /** Stops everything in order: validator, nodes, synchronizer, then the Redis of each. Once. */
  stop(): Promise<void> {
    const { directory } = this.#options.prepared
    this.faults.close()
    this.#stopped ??= this.#runner.stopAll().then(() => {
      removeSocketDirectory(directory)
      rmSync(faultsFileOf(directory), { force: true })
    })
    return this.#stopped
  }

  /** Whether the validator gets an answer on which enough nodes agree. */
  async #isValidatorAnswering(): Promise<boolean> {
    const url = `${this.#runner.service(VALIDATOR).url}/v0/scan-proxy/dso-party-id`
    return (await ask(url, { timeoutMs: PROXY_TIMEOUT_MS })).status === 200
  }
}

/** Ends the processes of a control plane that crashed, and deletes its sockets. Returns how many processes it ended. */
export async function cleanUp(directory: DataDirectory, clock: Clock): Promise<number> {
  const count = await endLeftovers({ ...directory.processes, clock })
  removeSocketDirectory(directory)
  return count
}
