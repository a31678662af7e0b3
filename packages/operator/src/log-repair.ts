/**
 * Repairs the log of the one synchronizer. It writes a whole log next to the damaged one, from that and from what the
 * nodes stored, and replaces the damaged log by it. It only reads the damaged log, and stores it. No process appends
 * meanwhile.
 */
import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { cp, rename, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { type Clock, succeeds } from '@quorumscan/base'
import {
  type GroupHolder,
  LogGroupError,
  LogUnavailableError,
  prepareRepair,
} from '@quorumscan/log'
import { RECORD_TIME_AHEAD_MICROS_MAX } from '@quorumscan/replica'
import { CommandError, messageOf, syncDirectory } from '@quorumscan/runtime'
import type { RedisService, ServiceRunner } from '@quorumscan/supervisor'
import { formatInstant as formatTime, type Genesis, maxFaulty } from '@quorumscan/verifier'
import { logGenesisOf } from './genesis.ts'

/** Longer than any log of one machine takes. */
const REPAIR_TIMEOUT_MS = 600_000
/** Reading a file of 10 GiB through takes a minute. */
const CHECK_TIMEOUT_MS = 120_000

/** Why a log cannot be repaired where all members order together. */
export const REPAIR_OF_MEMBERS =
  'this network has no single log to repair: each super-validator keeps a copy. A member that damaged or lost its ' +
  'copy gets it from the others: `quorumscan wipe sv-2 --disk` deletes the copy of sv-2, which then replays the log'

export type RepairOutcome = Awaited<ReturnType<typeof repairLog>>

export type RepairInput = {
  /** The Redis of the log. The synchronizer's process does not run. */
  readonly log: RedisService
  readonly nodes: readonly GroupHolder[]
  /** Followers that keep nothing. */
  readonly others: readonly Pick<GroupHolder, 'name' | 'head'>[]
  /** The Redis of a copy of the damaged log, and that of the repaired log. */
  readonly spares: { readonly copy: RedisService; readonly repaired: RedisService }
  readonly genesis: Genesis
  readonly runner: Pick<ServiceRunner, 'startRedis' | 'stop'>
  readonly isCutAllowed: boolean
  readonly clock: Clock
}

/**
 * Afterwards the log's Redis runs no more if the log was replaced.
 *
 * @throws {CommandError} If a Redis cannot be reached, or the disk is full; nothing was changed then.
 */
export async function repairLog(input: RepairInput) {
  const { log, nodes, others, spares, genesis, runner, clock } = input
  const nowMicros = clock.nowMicros()
  try {
    const source = await openSource(log, spares.copy, runner)
    const damaged = { redis: source?.redisAddress ?? null, genesis: logGenesisOf(genesis) }
    const latest = nowMicros + RECORD_TIME_AHEAD_MICROS_MAX
    const followers = { nodes, others, f: maxFaulty(genesis.nodes.length) }
    const signal = AbortSignal.timeout(REPAIR_TIMEOUT_MS)
    const { plan, write } = await prepareRepair({ ...damaged, latest, ...followers, signal })
    // Nothing was changed.
    if (plan.kind === 'refused')
      return { kind: plan.kind, refusal: plan.refusal, logDirectory: log.redisDirectory } as const
    const { refilled, cut, end } = plan
    /** Redis cannot load the files of the log: how long it was is unknown. */
    const isUnloadable = source !== log
    if (plan.kind === 'whole' && !isUnloadable) return { kind: plan.kind, end } as const
    const repair = { end, refilled, cut, isUnloadable }
    // Nothing was changed: it needs consent to give up the entries after the end.
    if ((cut !== null || isUnloadable) && !input.isCutAllowed)
      return { kind: 'to-cut', ...repair, nowMicros } as const
    await emptied(spares.repaired)
    await runner.startRedis(spares.repaired)
    await write(spares.repaired.redisAddress)
    // A regular stop writes everything to disk.
    await runner.stop(spares.repaired.redis.id)
    await runner.stop(log.redis.id)
    /** Holds the damaged log. */
    const backupDirectory = `${log.redisDirectory}.before-${formatTime(nowMicros).replace(/[:.]/g, '-')}`
    const repaired = spares.repaired.redisDirectory
    await replaceDirectory(log.redisDirectory, { repaired, backup: backupDirectory })
    return { kind: 'repaired', ...repair, backupDirectory } as const
  } catch (error) {
    const isExpected =
      error instanceof LogUnavailableError ||
      error instanceof LogGroupError ||
      (error instanceof Error && 'syscall' in error)
    if (!isExpected) throw error
    throw new CommandError(`the log was not repaired: ${messageOf(error)}`, { cause: error })
  } finally {
    for (const spare of Object.values(spares)) {
      await runner.stop(spare.redis.id)
      // If the log is missing, the repaired copy is the only one left.
      if (spare === spares.copy || existsSync(log.redisDirectory)) await emptied(spare)
    }
  }
}

/**
 * Replaces the directory `target` by `repaired`. `target` is renamed to `backup`.
 *
 * @throws {CommandError} If that fails. `target` is unchanged then; where restoring it failed, too, the error names both
 *   directories.
 */
export async function replaceDirectory(
  target: string,
  { repaired, backup }: { readonly repaired: string; readonly backup: string },
): Promise<void> {
  await rename(target, backup)
  try {
    await rename(repaired, target)
  } catch (cause) {
    await rename(backup, target).catch(() => {
      throw new CommandError(
        `the log was repaired, and could not be moved to ${target}: ${messageOf(cause)}. ` +
          `Move ${repaired} to ${target} yourself. The damaged log is in ${backup}`,
        { cause },
      )
    })
    throw new CommandError(
      `the log was not changed: the repaired log could not be moved to ${target}: ${messageOf(cause)}`,
      { cause },
    )
  }
  syncDirectory(dirname(target))
}

/** The Redis from which the log can be read; null if none can load any of it. */
async function openSource(log: RedisService, copy: RedisService, runner: RepairInput['runner']) {
  const isStarted = (redis: RedisService) => succeeds(runner.startRedis(redis))
  if (await isStarted(log)) return log
  await runner.stop(log.redis.id)
  await emptied(copy)
  const files = join(copy.redisDirectory, 'appendonlydir')
  await cp(join(log.redisDirectory, 'appendonlydir'), files, { recursive: true })
  await cutAtDamage(join(files, 'appendonly.aof.manifest'), log.redis.command)
  return (await isStarted(copy)) ? copy : null
}

/** Truncates an append-only file before what Redis cannot read. If that fails, the next start of Redis reports it. */
async function cutAtDamage(manifest: string, redisServer: string): Promise<void> {
  const checker = join(dirname(redisServer), 'redis-check-aof')
  const command = redisServer.includes('/') ? checker : 'redis-check-aof'
  const checking = promisify(execFile)(command, ['--fix', manifest], { timeout: CHECK_TIMEOUT_MS })
  checking.child.stdin?.end('y\n')
  await checking.catch(() => {})
}

async function emptied({ redisDirectory }: RedisService): Promise<void> {
  await rm(redisDirectory, { recursive: true, force: true })
}
