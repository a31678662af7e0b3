/**
 * What deletes, rebuilds or mends what a running cluster has on its disks: replicas, members' disks, the log. What reads
 * all of the log, or replaces it, is done one at a time.
 */
import type { Clock } from '@quorumscan/base'
import { DAMAGE_ADVICE, describeDamage, readRecentGroups, verifyLog } from '@quorumscan/log'
import { REPAIR_OF_MEMBERS, type RepairOutcome, repairLog } from '@quorumscan/operator'
import { logGenesisOf } from '@quorumscan/operator/ceremony'
import { readStoredOffset } from '@quorumscan/replica'
import { CommandError, messageOf } from '@quorumscan/runtime'
import type { Service, ServiceRunner } from '@quorumscan/supervisor'
import type { FaultRunner } from '../faults/fault-runner.ts'
import { hitBy } from '../faults/targets.ts'
import type { Prepared } from './prepare.ts'
import { type SetAside, setAside } from './set-aside.ts'
import { planLogRedis, type TopologyInput } from './topology.ts'
import { deleteLogAt, deleteReplicaAt } from './wipe.ts'

/** Longer than any log of one machine takes. */
const VERIFY_TIMEOUT_MS = 600_000

type DiskWorkOptions = {
  readonly prepared: Prepared
  readonly topology: TopologyInput
  readonly services: readonly Service[]
  readonly runner: ServiceRunner
  readonly faults: FaultRunner
  readonly clock: Clock
}

export class DiskWork {
  /** Whether followers may have read the log. */
  isClusterStarted = false
  readonly #options: DiskWorkOptions
  readonly #runner: ServiceRunner
  readonly #faults: FaultRunner
  readonly #isOrderedTogether: boolean
  #logWork: Promise<unknown> = Promise.resolve()
  #wipedNode: string | null = null

  constructor(options: DiskWorkOptions) {
    this.#options = options
    this.#runner = options.runner
    this.#faults = options.faults
    this.#isOrderedTogether = options.prepared.genesis.ordering.driver === 'cometbft'
  }

  /**
   * Deletes the replica of a node or of the validator, which then rebuilds it from the log. What does
   * not follow from the log stays (Rule 3). One replica at a time: the next one once this is back.
   *
   * @throws {CommandError} For the synchronizer: the log is what everything else is rebuilt from. If the
   *   log is not whole, or what was wiped before is not back: nothing is deleted then.
   */
  wipe(node: string): Promise<void> {
    return this.#withLog(() => this.#wipe(node))
  }

  /**
   * Deletes all that a super-validator has on its disk but its keys: replica, log, and what its engine kept. It gets
   * all of it again from the others, and does not vote before it can sign nothing twice. Of the synchronizer of the
   * validator, which has its log in the validator's Redis: the log, and what its engine kept.
   *
   * @throws {CommandError} If it does not order with others, and follows them by no engine; or if something cannot be
   *   deleted: then it runs again with all that it had.
   */
  async wipeDisk(node: string): Promise<void> {
    const { services, redis } = hitBy(this.#runner.servicesOf(node), null)
    if (services.every(({ engineDirectory }) => engineDirectory === null))
      throw new CommandError(
        `${node} orders nothing; \`quorumscan wipe ${node}\` deletes its replica`,
      )
    await this.#runner.exclusively(node, async (main) => {
      await this.#empty(main, {
        services,
        killed: redis,
        directories: [
          ...(redis === null ? [] : [redis.redisDirectory]),
          ...services.flatMap(({ engineDirectory }) => engineDirectory ?? []),
          this.#options.prepared.directory.snapshotDirectory(node),
        ],
        deleteKeys: redis === null ? deleteLogAt : null,
      })
    })
    this.#faults.refresh()
    await Promise.all(services.map((service) => this.#runner.untilUpOrLate(service)))
  }

  /**
   * Stops services, deletes what they have, all or nothing, and starts them again, whether that succeeds or not.
   *
   * @param options.killed - Whose Redis is killed for it.
   * @param options.deleteKeys - Deletes what is in a Redis that stays.
   * @throws {CommandError} If something cannot be deleted.
   */
  async #empty(
    main: Service,
    options: {
      readonly services: readonly Service[]
      readonly killed: Service | null
      readonly directories: readonly string[]
      readonly deleteKeys: ((address: Service['redisAddress']) => Promise<unknown>) | null
    },
  ): Promise<void> {
    const runner = this.#runner
    const { services, killed, directories, deleteKeys } = options
    const start = async () => {
      await runner.startRedis(main)
      for (const service of services) await runner.startApp(service)
    }
    let aside: SetAside | null = null
    await Promise.all(services.map(({ app }) => runner.stop(app.id)))
    try {
      if (killed !== null) await runner.processes.kill(killed.redis.id)
      aside = setAside(directories)
      if (deleteKeys !== null) {
        await runner.startRedis(main)
        await deleteKeys(main.redisAddress)
      }
    } catch (cause) {
      aside?.putBack()
      await start().catch(() => {}) // `status` shows it; why nothing was deleted comes first.
      throw new CommandError(
        `${main.node} was not wiped: ${messageOf(cause)}; it runs again with what it had. Repair that, then wipe again`,
        { cause },
      )
    }
    await start()
    try {
      aside.delete()
    } catch (cause) {
      throw new CommandError(
        `${main.node} was wiped and runs, but what it had is not deleted: ${messageOf(cause)}; delete it by hand`,
        { cause },
      )
    }
  }

  /**
   * Makes a damaged log whole again, from what the nodes kept of it, or says why it cannot be. The synchronizer
   * stands still meanwhile. Of a cluster that was not started, only what Redis it needs is.
   *
   * @throws {CommandError} If an end may be cut off while the cluster runs: its followers have read it.
   */
  repairLog(options: { readonly isCutAllowed: boolean }): Promise<RepairOutcome> {
    return this.#withLog(() => this.#repairLog(options.isCutAllowed))
  }

  #withLog<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#logWork.then(work)
    this.#logWork = done.catch(() => {})
    return done
  }

  async #repairLog(isCutAllowed: boolean): Promise<RepairOutcome> {
    const runner = this.#runner
    const isStarted = this.isClusterStarted
    if (this.#isOrderedTogether) throw new CommandError(REPAIR_OF_MEMBERS)
    if (isCutAllowed && isStarted)
      throw new CommandError(
        'an end of the log is cut off only while nobody follows it: `quorumscan down` first',
      )
    const followers = this.#options.services.filter(({ kind }) => kind !== 'synchronizer')
    // Those that cannot start do not answer.
    if (!isStarted) await Promise.allSettled(followers.map((service) => runner.startRedis(service)))
    const outcome = await runner.exclusively('synchronizer', async (service) => {
      await runner.stop(service.app.id)
      try {
        return await repairLog({
          ...this.#options.prepared,
          log: service,
          nodes: await followersOf(this.#options.services, 'scan'),
          others: await followersOf(this.#options.services, 'validator'),
          spares: {
            copy: planLogRedis(this.#options.topology, 'synchronizer.copy'),
            repaired: planLogRedis(this.#options.topology, 'synchronizer.repaired'),
          },
          runner,
          isCutAllowed,
          clock: this.#options.clock,
        })
      } finally {
        if (isStarted && this.#faults.mayStart(service.app.id)) {
          await runner.startRedis(service).catch(() => {}) // It is started again, and `status` tells of it.
          await runner.startApp(service)
        }
      }
    })
    this.#faults.refresh()
    if (!isStarted || outcome.kind !== 'repaired') return outcome
    await runner.untilUp(runner.service('synchronizer')).catch(() => {}) // As above.
    for (const service of followers)
      if (runner.health.healthOf(service)?.code === 'LOG_REGRESSED')
        await this.#faults.restart({ node: service.name, part: null })
    return outcome
  }

  async #wipe(node: string): Promise<void> {
    const isLogShared = this.#isOrderedTogether
    await this.#runner.exclusively(node, async (service) => {
      if (service.kind === 'synchronizer')
        throw new CommandError(
          'the synchronizer keeps the log, from which all replicas are rebuilt; it cannot be wiped',
        )
      this.#assertBack(node)
      // Of a log that many keep nobody's copy is the only one.
      if (!isLogShared) await this.#assertLogWhole()
      this.#wipedNode = node
      // The Redis of a node goes with its files, which also mends a broken one, unless it holds more than the replica.
      const isAlone = service.kind === 'scan' && !isLogShared
      await this.#empty(service, {
        services: [service],
        killed: isAlone ? service : null,
        directories: isAlone ? [service.redisDirectory] : [],
        deleteKeys: isAlone ? null : deleteReplicaAt,
      })
    })
    this.#faults.refresh()
    await this.#runner.untilUp(this.#runner.service(node)).catch((cause: unknown) => {
      throw new CommandError(`${node} was wiped, but is not back: ${messageOf(cause)}`, { cause })
    })
  }

  /** Of replicas that are deleted and do not come back, one is enough. */
  #assertBack(node: string): void {
    const before = this.#wipedNode
    if (before === null || before === node) return
    const service = this.#runner.service(before)
    if (this.#runner.health.stateOf(service).state === 'up') return
    throw new CommandError(
      `${node} is not wiped: ${before} was, and is not back yet; ${this.#runner.health.describeTrouble(service)}`,
    )
  }

  async #assertLogWhole(): Promise<void> {
    const verdict = await verifyLog({
      redis: this.#runner.service('synchronizer').redisAddress,
      genesis: logGenesisOf(this.#options.prepared.genesis),
      signal: AbortSignal.timeout(VERIFY_TIMEOUT_MS),
    }).catch((cause: unknown) => {
      throw new CommandError(
        `no replica is deleted: the log cannot be read (${messageOf(cause)})`,
        {
          cause,
        },
      )
    })
    const [damage] = verdict.damages
    if (damage !== undefined)
      throw new CommandError(`no replica is deleted: ${describeDamage(damage)} ${DAMAGE_ADVICE}`)
  }
}

async function followersOf(services: readonly Service[], kind: Service['kind']) {
  return await Promise.all(
    services
      .filter((service) => service.kind === kind)
      .map(async ({ name, redisAddress: redis }) => {
        const head = await readStoredOffset(redis).catch(() => null) // It does not answer, whatever the reason.
        const readKept = async () =>
          (await readRecentGroups({ redis, applied: head ?? 0 })).values()
        return { name, head, readKept }
      }),
  )
}
