/**
 * Deletes, rebuilds and repairs the data of a running cluster: replicas, members' disks, the log. Work that reads the whole
 * log, or replaces it, runs one at a time.
 */
import { renameSync, rmSync } from 'node:fs'
import type { Clock } from '@quorumscan/base'
import {
  DAMAGE_ADVICE,
  describeDamage,
  LOG_KEYS,
  readRecentGroups,
  verifyLog,
} from '@quorumscan/log'
import { REPAIR_OF_MEMBERS, type RepairOutcome, repairLog } from '@quorumscan/operator'
import { logGenesisOf } from '@quorumscan/operator/ceremony'
import { deleteReplicaAt } from '@quorumscan/operator/run'
import { type RedisAddress, withRedis } from '@quorumscan/redis'
import { readStoredOffset } from '@quorumscan/replica'
import { CommandError, isErrno, messageOf } from '@quorumscan/runtime'
import type { Service, ServiceRunner } from '@quorumscan/supervisor'
import { processesOf } from '../faults/effects.ts'
import type { FaultRunner } from '../faults/fault-runner.ts'
import type { Prepared } from './prepare.ts'
import { planLogRedis, type TopologyInput } from './topology.ts'

/** Enough for any log of one machine. */
const VERIFY_TIMEOUT_MS = 600_000
/** The suffix of a directory that is being deleted. */
const WIPED_SUFFIX = '.wiped'

type DiskWorkOptions = {
  readonly prepared: Prepared
  readonly topology: TopologyInput
  readonly services: readonly Service[]
  readonly runner: ServiceRunner
  readonly faults: FaultRunner
  readonly clock: Clock
}

/** Work on disks of one cluster. Each method returns once the services concerned run again. */
export class DiskWork {
  /** Whether followers may have read the log. */
  isClusterStarted = false
  readonly #options: DiskWorkOptions
  readonly #runner: ServiceRunner
  readonly #faults: FaultRunner
  /** Whether members order together, so that each has a copy of the log. */
  readonly #isLogShared: boolean
  #logWork: Promise<unknown> = Promise.resolve()
  #wipedNode: string | null = null

  constructor(options: DiskWorkOptions) {
    this.#options = options
    this.#runner = options.runner
    this.#faults = options.faults
    this.#isLogShared = options.prepared.genesis.ordering.driver === 'cometbft'
  }

  /**
   * Deletes the replica of a node or of the validator, which then rebuilds it from the log. Data that does not follow from
   * the log stays (Rule 3). One replica at a time: the next one once this one is up.
   *
   * @throws {CommandError} For the synchronizer, whose log is the source of all replicas. If the log is damaged, or the
   *   replica that was wiped before is not up: then nothing is deleted.
   */
  wipe(node: string): Promise<void> {
    return this.#withLog(async () => {
      await this.#runner.exclusively(node, async (service) => {
        if (service.kind === 'synchronizer')
          throw new CommandError(
            'the synchronizer stores the log, from which all replicas are rebuilt; it cannot be wiped',
          )
        this.#assertUp(node)
        // A shared log has other copies.
        if (!this.#isLogShared) await this.#assertLogWhole()
        this.#wipedNode = node
        // A Redis with nothing but the replica is deleted with its files, which also repairs damaged files.
        const isReplicaOnly = service.kind === 'scan' && !this.#isLogShared
        const how = isReplicaOnly
          ? { killed: service, directories: [service.redisDirectory], deleteKeys: null }
          : { killed: null, directories: [], deleteKeys: deleteReplicaAt }
        await this.#empty(service, { services: [service], ...how })
      })
      this.#faults.refresh()
      await this.#runner.untilUp(this.#runner.service(node)).catch((cause: unknown) => {
        throw new CommandError(`${node} was wiped, but is not up: ${messageOf(cause)}`, { cause })
      })
    })
  }

  /**
   * Deletes all data of a super-validator except its keys: replica, log, and the data of its engine. It gets all of it
   * from the others, and does not vote before it can sign nothing twice. Of the validator's synchronizer, whose log is in
   * the validator's Redis: the log, and the data of its engine.
   *
   * @throws {CommandError} If it has no engine, or if something cannot be deleted: then it runs again with all its data.
   */
  async wipeDisk(node: string): Promise<void> {
    const { services, redis } = processesOf(this.#runner.servicesOf(node), null)
    if (services.every(({ engineDirectory }) => engineDirectory === null))
      throw new CommandError(
        `${node} has no engine; \`quorumscan wipe ${node}\` deletes its replica`,
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
   * Stops services, deletes their data, all or nothing, and starts them again, whether that succeeds or not.
   *
   * @param options.killed - The service whose Redis is killed.
   * @param options.deleteKeys - Deletes data in a Redis that stays.
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
    const { services, killed, directories, deleteKeys } = options
    const runner = this.#runner
    const start = async () => {
      await runner.startRedis(main)
      for (const service of services) await runner.startApp(service)
    }
    let aside: ReturnType<typeof setAside> | null = null
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
      await start().catch(() => {}) // `status` shows it. The reason for the failed deletion is more important.
      const message = `${main.owner} was not wiped: ${messageOf(cause)}; it runs again with its data. Repair that, then wipe again`
      throw new CommandError(message, { cause })
    }
    await start()
    try {
      aside.delete()
    } catch (cause) {
      const message = `${main.owner} was wiped and runs, but its old data is not deleted: ${messageOf(cause)}; delete it by hand`
      throw new CommandError(message, { cause })
    }
  }

  /**
   * Repairs a damaged log from the groups that nodes store, or returns why it cannot. The synchronizer is stopped
   * meanwhile. In a cluster that was not started, only the Redis servers that it needs are started.
   *
   * @throws {CommandError} If an end may be cut off while the cluster runs: its followers have read it.
   */
  repairLog({ isCutAllowed }: { readonly isCutAllowed: boolean }): Promise<RepairOutcome> {
    return this.#withLog(async () => {
      const runner = this.#runner
      const isStarted = this.isClusterStarted
      if (this.#isLogShared) throw new CommandError(REPAIR_OF_MEMBERS)
      if (isCutAllowed && isStarted)
        throw new CommandError(
          'the end of the log can be cut off only in a stopped cluster: run `quorumscan down` first',
        )
      const followers = this.#options.services.filter(({ kind }) => kind !== 'synchronizer')
      // A Redis that cannot start does not answer.
      if (!isStarted)
        await Promise.allSettled(followers.map((service) => runner.startRedis(service)))
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
            await runner.startRedis(service).catch(() => {}) // It is restarted, and `status` shows it.
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
    })
  }

  #withLog<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#logWork.then(work)
    this.#logWork = done.catch(() => {})
    return done
  }

  /** At most one replica may be missing. */
  #assertUp(node: string): void {
    const before = this.#wipedNode
    if (before === null || before === node) return
    const service = this.#runner.service(before)
    if (this.#runner.health.stateOf(service).state === 'up') return
    throw new CommandError(
      `${node} was not wiped: ${before} was wiped before, and is not up yet; ${this.#runner.health.describeTrouble(service)}`,
    )
  }

  async #assertLogWhole(): Promise<void> {
    const verdict = await verifyLog({
      redis: this.#runner.service('synchronizer').redisAddress,
      genesis: logGenesisOf(this.#options.prepared.genesis),
      signal: AbortSignal.timeout(VERIFY_TIMEOUT_MS),
    }).catch((cause: unknown) => {
      const why = `no replica is deleted: the log cannot be read (${messageOf(cause)})`
      throw new CommandError(why, { cause })
    })
    const [damage] = verdict.damages
    if (damage !== undefined)
      throw new CommandError(`no replica is deleted: ${describeDamage(damage)} ${DAMAGE_ADVICE}`)
  }
}

async function followersOf(services: readonly Service[], kind: Service['kind']) {
  const followerOf = async ({ name, redisAddress: redis }: Service) => {
    const head = await readStoredOffset(redis).catch(() => null) // It does not answer, for whatever reason.
    const readStored = async () => (await readRecentGroups({ redis, applied: head ?? 0 })).values()
    return { name, head, readStored }
  }
  return await Promise.all(services.filter((service) => service.kind === kind).map(followerOf))
}

/** Deletes the log in a Redis. */
function deleteLogAt(address: RedisAddress): Promise<unknown> {
  return withRedis(address, 'wipe', (redis) => redis.unlink(...LOG_KEYS))
}

/**
 * Renames directories, all or none, within their parents. One that does not exist counts as moved.
 *
 * @throws {Error} If one cannot be moved, e.g. for lack of permission: then all are where they were.
 */
function setAside(paths: readonly string[]) {
  const moved: string[] = []
  const aside = {
    /** Undoes it. */
    putBack(): void {
      for (const path of moved) {
        // A process that was started meanwhile may have created it.
        rmSync(path, { recursive: true, force: true })
        renameSync(path + WIPED_SUFFIX, path)
      }
    },
    /** @throws {Error} With the path, if something cannot be deleted. The original paths stay free. */
    delete(): void {
      for (const path of moved) rmSync(path + WIPED_SUFFIX, { recursive: true, force: true })
    },
  }
  try {
    for (const path of paths) {
      // An earlier call could not delete it.
      rmSync(path + WIPED_SUFFIX, { recursive: true, force: true })
      if (moveIfThere(path)) moved.push(path)
    }
  } catch (error) {
    aside.putBack()
    throw error
  }
  return aside
}

function moveIfThere(path: string): boolean {
  try {
    renameSync(path, path + WIPED_SUFFIX)
    return true
  } catch (error) {
    if (isErrno(error, 'ENOENT')) return false
    throw error
  }
}
