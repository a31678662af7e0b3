/** Runs the processes of one operator, and restarts those that exit, until it is disposed of. */
import { CONFIGURATION_EXIT, openAll, withResolvers } from '@quorumscan/base'
import { CommandError, messageOf, UsageError } from '@quorumscan/runtime'
import { assertRedisUsable, ServiceRunner } from '@quorumscan/supervisor'
import { findEngine } from '../engine/find-engine.ts'
import { LOG_WRITER_SECRET, type Machine } from '../plan.ts'
import { makeLogTokens, makeSecret } from '../secrets.ts'
import type { OperatorConfig } from './operator-config.ts'
import { externalRedisOf, type OwnNode, planOperator, warningsOf } from './operator-services.ts'
import { lockDirectory } from './own-redis.ts'
import { refuseSecondMachine } from './second-machine.ts'

/** The supervisor's text of the exit status for a wrong configuration. */
const MISCONFIGURED = `exit status ${CONFIGURATION_EXIT}`

/**
 * Starts everything, and returns when that is done; disposing stops it in order.
 *
 * @throws {CommandError} If the operator already runs, on this or another machine, or if a program is missing: then
 *   nothing was started.
 */
export async function runOperator(
  options: OwnNode & {
    readonly config: OperatorConfig
    readonly entryFiles: Machine['entryFiles']
    /** Receives what happens, in sentences. */
    readonly report: (sentence: string) => void
  },
) {
  const { config, redisServer, clock, report } = options
  const { directory, genesis, name } = config
  for (const warning of warningsOf(config)) report(warning)
  const isMemberOrdered = genesis.ordering.driver === 'cometbft'
  if (externalRedisOf(config) === null) await assertRedisUsable(redisServer)
  const machine: Omit<Machine, 'socketDirectory'> = {
    directory,
    redisServer,
    entryFiles: options.entryFiles,
    engineProgram: isMemberOrdered
      ? await findEngine({ ...options.env, ...config.variables })
      : null,
    env: Object.fromEntries(Object.entries(options.env).filter(([one]) => !one.startsWith('QS_'))),
    logFileOf: () => null,
  }
  return openAll(async (resources) => {
    const lock = await lockDirectory(directory, clock).catch((cause: unknown) => {
      if (!(cause instanceof CommandError)) throw cause
      throw new CommandError(
        `${cause.message}: nothing was started. Stop that first, or name another directory as QS_DATA_DIR`,
        { cause },
      )
    })
    const { socketDirectory, endedCount } = resources.opened(lock)
    if (endedCount > 0) report(`ended ${endedCount} processes that a crash had left running`)
    if (isMemberOrdered) makeLogTokens(directory, name, [name])
    const logWriter = makeSecret(directory, LOG_WRITER_SECRET)
    const services = planOperator(config, { ...machine, socketDirectory }, logWriter)
    const wereReady = new Set<string>()
    const { promise: failed, reject: fail } = withResolvers<never>()
    failed.catch(() => {}) // The caller may no longer wait for it.
    const runner = new ServiceRunner({
      ...directory.processes,
      services,
      clock,
      isCluster: false,
      onIncident: (_, sentence) => report(sentence),
      shouldRestart(id, how) {
        // A second start would fail in the same way. After it was once ready, files may have been replaced meanwhile.
        if (how !== MISCONFIGURED || wereReady.has(id)) return true
        fail(
          new UsageError(
            `the configuration is wrong: ${id} exited; its last log line has the reason. Everything was stopped. Correct the configuration, and run again`,
          ),
        )
        return false
      },
    })
    resources.onClose(() => runner.stopAll())
    await refuseSecondMachine(config, clock)
    for (const service of services) await runner.startRedis(service)
    await Promise.all(services.map((service) => runner.startOrTakeOver(service)))
    for (const service of services)
      void runner.untilUp(service).then(
        () => {
          wereReady.add(service.app.id)
          report(`${service.name} is ready`)
        },
        (error) => report(messageOf(error)), // The runner keeps trying, or is being stopped.
      )
    return {
      /** Rejects with a `UsageError` when a process finds its configuration wrong before it was ever ready. */
      failed,
    }
  })
}
