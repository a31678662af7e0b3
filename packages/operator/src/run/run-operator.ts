/** Runs the processes of one operator, and restarts those that exit, until it is disposed of. */
import { CONFIGURATION_EXIT, held, openAll, requestReload, withResolvers } from '@quorumscan/base'
import { CommandError, openLiveFile, UsageError } from '@quorumscan/runtime'
import { ServiceRunner } from '@quorumscan/supervisor'
import { ROLE_OF } from '../ceremony/member.ts'
import { type Check, describeCheck } from '../checks/check.ts'
import { checkDirectory } from '../checks/directory.ts'
import { checkedOperator } from '../checks/operator.ts'
import { checkRunning } from '../checks/running.ts'
import { checkStart } from '../checks/start.ts'
import { createConsole } from '../console/console.ts'
import { findEngine } from '../engine/find-engine.ts'
import { LOG_WRITER_SECRET, type Machine, metricsSocketOf } from '../plan.ts'
import { makeLogTokens, makeNodeTokens, makeSecret } from '../secrets.ts'
import { isMemberOrdered, type OperatorConfig, parseConsoleToken } from './operator-config.ts'
import { openOperatorListener } from './operator-listener.ts'
import { type OwnNode, planOperator } from './operator-services.ts'
import { lockDirectory } from './own-redis.ts'
import type { RunLog } from './run-log.ts'
import { reportToServiceManager, withoutServiceManager } from './service-manager.ts'
import { refuseOverfull } from './stored-memory.ts'
import { watchMembers } from './watch-members.ts'

/** The supervisor's text of the exit status for a wrong configuration. */
const MISCONFIGURED = `exit status ${CONFIGURATION_EXIT}`

/**
 * Starts everything, and returns when that is done; disposing stops it in order.
 *
 * @throws {CommandError} If the operator already runs, or a check fails (`checkStart`): then nothing was started.
 */
export async function runOperator(
  options: OwnNode & {
    readonly config: OperatorConfig
    readonly entryFiles: Machine['entryFiles']
    /** Receives what happens, and what the processes write. */
    readonly log: Pick<RunLog, 'report' | 'pass'>
  },
) {
  const { config, redisServer, entryFiles, clock, log } = options
  const { report } = log
  const { directory, name } = config
  const isOrdering = isMemberOrdered(config)
  return openAll(async (resources) => {
    refuse([checkDirectory(config)]) // A full disk, or files that it cannot read: before it locks the directory.
    const lock = await lockDirectory(directory, clock).catch((cause: unknown) => {
      if (!(cause instanceof CommandError)) throw cause
      throw new CommandError(
        `${cause.message}: nothing was started. Stop that first, or name another directory as QS_DATA_DIR`,
        { cause },
      )
    })
    const { socketDirectory, endedCount } = resources.opened(lock)
    if (endedCount > 0) report(`ended ${endedCount} processes that a crash had left running`)
    await refuseFailed(options, report)
    const engineProgram = isOrdering
      ? await findEngine({ ...options.env, ...config.variables })
      : null
    const inherited = Object.entries(withoutServiceManager(options.env)).filter(
      ([one]) => !one.startsWith('QS_'),
    )
    const env = Object.fromEntries(inherited)
    const machine = { directory, socketDirectory, redisServer, entryFiles, engineProgram, env }
    if (isOrdering) makeLogTokens(directory, name, [name])
    const logWriter = makeSecret(directory, LOG_WRITER_SECRET)
    const services = planOperator(config, { ...machine, logFileOf: () => null }, logWriter)
    const node = services.find(({ kind }) => kind === 'scan')
    const nodeUrl = node?.app.env['QS_PUBLIC_URL']
    if (isOrdering) makeNodeTokens(directory, name, nodeUrl ? [{ name, url: nodeUrl }] : [])
    const wereReady = held(
      {
        owner: 'operator',
        name: 'services that were ready',
        kind: 'state',
        bound: 'one of each service',
      },
      new Set<string>(),
    )
    const { promise: failed, reject: fail } = withResolvers<never>()
    failed.catch(() => {}) // The caller may no longer wait for it.
    const runner = new ServiceRunner({
      ...directory.processes,
      services,
      clock,
      isCluster: false,
      endsSilent: true,
      onIncident: (_, sentence) => report(sentence, 'warn'),
      onLine: log.pass,
      shouldRestart(id, how) {
        // A second start would fail in the same way. After it was once ready, files may have been replaced meanwhile.
        if (how !== MISCONFIGURED || wereReady.has(id)) return true
        void runner.processes
          .lastErrorLine(id)
          .then((reason) =>
            fail(
              new UsageError(
                `everything was stopped, because ${id} found its configuration wrong. Correct it, and run again:\n${reason ?? how}`,
              ),
            ),
          )
        return false
      },
    })
    resources.onClose(() => runner.stopAll())
    runner.endSilent()
    const { operatorAddress: address } = config
    const socketOf = (id: string) => metricsSocketOf({ socketDirectory }, id)
    const { processes } = runner
    if (address !== null)
      resources.opened(
        await openOperatorListener({
          name,
          address,
          services,
          processes,
          socketOf,
          clock,
          makeConsole: consoleOf(options),
        }),
      )
    resources.opened(watchMembers(config, { clock, report }))
    for (const service of services) {
      await runner.startRedis(service)
      await refuseOverfull(service, config.variables)
    }
    await Promise.all(services.map((service) => runner.startOrTakeOver(service)))
    for (const service of services)
      void runner
        .untilUpAtLast(service, (sentence) => report(`not ready yet: ${sentence}`, 'warn'))
        .then(
          () => {
            wereReady.add(service.app.id)
            report(`${service.name} is ready`)
          },
          () => {}, // Everything is being stopped.
        )
    // The others may not run yet: systemd need not wait until it has caught up.
    resources.opened(await reportToServiceManager({ ...options, report }))
    return {
      /** Certificates, tokens and member files are read now, by this process and by those that it runs. */
      reload(): void {
        report('reading certificates, tokens and member files again')
        requestReload()
        // A process that still starts would end, and reads them anyway.
        for (const id of wereReady) processes.reload(id)
      },
      /** Rejects with a `UsageError` when a process finds its configuration wrong before it was ever ready. */
      failed,
    }
  })
}

/** Reports the warnings of the checks. @throws {CommandError} With all that failed. */
async function refuseFailed(
  operator: Parameters<typeof checkedOperator>[0],
  report: RunLog['report'],
): Promise<void> {
  const checks = await checkStart(checkedOperator(operator), false)
  for (const check of checks) if (check.state === 'warning') report(describeCheck(check), 'warn')
  refuse(checks)
}

function refuse(checks: readonly Check[]): void {
  const failed = checks.filter(({ state }) => state === 'failed').map(describeCheck)
  if (failed.length === 0) return
  const Refusal = checks.some(({ isMisconfigured }) => isMisconfigured) ? UsageError : CommandError
  throw new Refusal(['nothing was started, because a check failed:', ...failed].join('\n'))
}

/** The console of the operator, if its configuration names a token. */
function consoleOf(operator: Parameters<typeof checkedOperator>[0]) {
  const { config, clock } = operator
  const { consoleTokenFile: file, name, runs } = config
  if (file === null) return null
  const logger = { warn() {} } // `--check` and the start report an invalid file; the last valid token stays.
  const named = { variable: 'QS_CONSOLE_TOKEN_FILE', file }
  const token = openLiveFile(named, parseConsoleToken, { clock, logger })
  const checked = checkedOperator(operator)
  return (readMetrics: () => Promise<string>) =>
    createConsole({
      name,
      role: ROLE_OF[runs],
      token,
      readMetrics,
      clock,
      readChecks: async () => (await checkRunning(checked, config.backupDirectory)).checks,
    })
}
