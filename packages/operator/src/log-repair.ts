/**
 * Repairs the log of the one synchronizer. It writes a whole log next to the damaged one, from that and from what the
 * nodes stored, and replaces the damaged log by it. It only reads the damaged log, and stores it. No process appends
 * meanwhile.
 */
import { execFile } from 'node:child_process'
import { existsSync, readdirSync, statSync } from 'node:fs'
import { cp, rename, rm } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { promisify } from 'node:util'
import type { Clock } from '@quorumscan/base'
import {
  type GroupHolder,
  LogGroupError,
  LogUnavailableError,
  prepareRepair,
} from '@quorumscan/log'
import { RECORD_TIME_AHEAD_MICROS_MAX } from '@quorumscan/replica'
import { CommandError, messageOf, syncDirectory } from '@quorumscan/runtime'
import type { RedisService, ServiceRunner } from '@quorumscan/supervisor'
import { formatInstant, type Genesis, memberSetOf } from '@quorumscan/verifier'
import { logGenesisOf } from './genesis.ts'

/** Longer than any log of one machine takes. */
const REPAIR_TIMEOUT_MS = 600_000
/** Reading a file of 10 GiB through takes a minute. */
const CHECK_TIMEOUT_MS = 120_000
/** It prints a line for each part of a file, and no content. */
const CHECK_OUTPUT_BYTES_MAX = 16 * 1024 * 1024

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
    const damaged = { redis: source.redisAddress, genesis: logGenesisOf(genesis) }
    const latest = nowMicros + RECORD_TIME_AHEAD_MICROS_MAX
    const followers = { nodes, others, f: memberSetOf(genesis).f }
    const signal = AbortSignal.timeout(REPAIR_TIMEOUT_MS)
    const { plan, isEmpty, write } = await prepareRepair({
      ...damaged,
      latest,
      ...followers,
      signal,
    })
    // Nothing was changed.
    if (plan.kind === 'refused')
      return { kind: plan.kind, refusal: plan.refusal, logDirectory: log.redisDirectory } as const
    const { refilled, cut, end } = plan
    /** Its files are damaged, so that Redis loads a part of them: how long it was is unknown. */
    const isUnloadable = source !== log
    if (plan.kind === 'whole' && !isUnloadable) return { kind: plan.kind, end } as const
    const repair = { end, refilled, cut, isUnloadable, isEmpty }
    // Nothing was changed: it needs consent to give up the entries after the end.
    if ((cut !== null || isUnloadable || isEmpty) && !input.isCutAllowed)
      return { kind: 'to-cut', ...repair, nowMicros } as const
    await emptied(spares.repaired)
    await runner.startRedis(spares.repaired)
    await write(spares.repaired.redisAddress)
    // A regular stop writes everything to disk.
    await runner.stop(spares.repaired.redis.id)
    await runner.stop(log.redis.id)
    /** Holds the damaged log. */
    const backupDirectory = `${log.redisDirectory}.before-${formatInstant(nowMicros).replace(/[:.]/g, '-')}`
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

/**
 * The Redis from which the log can be read: its own, or one with a copy that is cut off where `redis-check-aof` found damage.
 * What could not be read is no proof of damage: then nothing is repaired.
 *
 * @throws {CommandError} If neither starts, or the checker fails.
 */
async function openSource(
  log: RedisService,
  copy: RedisService,
  runner: RepairInput['runner'],
): Promise<RedisService> {
  const failure = await failureOf(runner.startRedis(log))
  if (failure === null) return log
  await runner.stop(log.redis.id)
  await emptied(copy)
  const files = join(copy.redisDirectory, 'appendonlydir')
  await cp(join(log.redisDirectory, 'appendonlydir'), files, { recursive: true })
  const bytesBefore = bytesIn(files)
  await cutAtDamage(join(files, 'appendonly.aof.manifest'), checkerOf(log.redis.command))
  if (bytesIn(files) === bytesBefore)
    throw new CommandError(
      `the log was not repaired: its files are not damaged, and its Redis does not start (${messageOf(failure)})`,
      { cause: failure },
    )
  const failureOfCopy = await failureOf(runner.startRedis(copy))
  if (failureOfCopy === null) return copy
  throw new CommandError(
    `the log was not repaired: Redis cannot load what the check left of its files (${messageOf(failureOfCopy)}). ` +
      'Restore a backup of the synchronizer',
    { cause: failureOfCopy },
  )
}

async function failureOf(work: Promise<void>): Promise<unknown> {
  return await work.then(
    () => null,
    (error: unknown) => error,
  )
}

function bytesIn(directory: string): number {
  return readdirSync(directory).reduce((sum, name) => sum + statSync(join(directory, name)).size, 0)
}

/** The checker that belongs to a `redis-server` or `valkey-server`: it has the same version. */
export function checkerOf(redisServer: string): string {
  const server = basename(redisServer)
  const checker = server.endsWith('-server')
    ? server.replace(/-server$/, '-check-aof')
    : 'redis-check-aof'
  return redisServer.includes('/') ? join(dirname(redisServer), checker) : checker
}

/**
 * Truncates an append-only file before what Redis cannot read.
 *
 * @throws {CommandError} If the checker cannot be run, takes too long, or cannot repair the files.
 */
export async function cutAtDamage(manifest: string, checker: string): Promise<void> {
  const checking = promisify(execFile)(checker, ['--fix', manifest], {
    timeout: CHECK_TIMEOUT_MS,
    maxBuffer: CHECK_OUTPUT_BYTES_MAX,
  })
  // It may exit before it reads its input: its exit status counts.
  checking.child.stdin?.on('error', () => {}).end('y\n')
  await checking.catch((cause: CheckFailure) => {
    throw new CommandError(`the log was not repaired: ${describeCheck(checker, cause)}`, { cause })
  })
}

type CheckFailure = Error & {
  readonly code?: number | string | null
  readonly killed?: boolean
  readonly signal?: string | null
  readonly stdout?: string
  readonly stderr?: string
}

function describeCheck(checker: string, { code, killed, signal, stdout, stderr }: CheckFailure) {
  if (killed === true && typeof code !== 'string')
    return `${checker} was not done after ${CHECK_TIMEOUT_MS / 1000} s`
  if (typeof code === 'string')
    return `${checker} cannot be run (${code}). Install it next to ${serverOf(checker)}, or set REDIS_SERVER to one that has it`
  const last = `${stdout ?? ''}\n${stderr ?? ''}`.trim().split('\n').at(-1) ?? ''
  const how = signal == null ? `exit status ${code}` : signal
  return `${checker} failed (${how}): ${last}. Restore a backup of the synchronizer`
}

function serverOf(checker: string): string {
  return basename(checker).replace(/-check-aof$/, '-server')
}

async function emptied({ redisDirectory }: RedisService): Promise<void> {
  await rm(redisDirectory, { recursive: true, force: true })
}
