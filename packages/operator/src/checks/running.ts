/** The checks of an operator whose processes run: those of `status`. */
import { runningIn } from '@quorumscan/supervisor'
import { findOwner } from '../run/directory-lock.ts'
import { externalRedisOf } from '../run/operator-services.ts'
import { askSignedStates } from '../signed-states.ts'
import { checkBackup } from './backup.ts'
import { type Check, failed, ok } from './check.ts'
import { checkRedis } from './machine.ts'
import { type CheckedOperator, checkShared, locateNodes } from './operator.ts'
import { checkVotes } from './peers.ts'
import { checkObserved, checkVersions, observe } from './processes.ts'

/** A node without a new statement answers after 5 s. */
const VOTE_MS_MAX = 7_000

/** @param backupDirectory - Where its backups are; null: not known here. */
export async function checkRunning(
  operator: CheckedOperator,
  backupDirectory: string | null,
): Promise<{ readonly isRunning: boolean; readonly checks: readonly Check[] }> {
  const { config, clock } = operator
  const isRunning = (await findOwner(config.directory, clock)) !== null
  const nodes = await locateNodes(operator)
  const [running, shared] = await Promise.all([
    isRunning ? checkProcesses(operator, nodes) : [notRunning(operator)],
    checkShared(operator, nodes),
  ])
  const backups = backupDirectory === null ? [] : [checkBackup(backupDirectory, clock)]
  return { isRunning, checks: [...running, ...shared, ...backups] }
}

function notRunning({ config }: CheckedOperator): Check {
  const advice = `Check it with \`quorumscan run ${config.runs} --check\`, then start it`
  return failed('processes', `none runs: no \`run\` is active in ${config.directory.path}`, advice)
}

async function checkProcesses(
  operator: CheckedOperator,
  nodes: CheckedOperator['nodes'],
): Promise<readonly Check[]> {
  const { config, services, fetch, clock } = operator
  const { genesis, directory } = config
  const { recordFile } = directory.processes
  const [observed, signed] = await Promise.all([
    observe(services, recordFile),
    askSignedStates(0, { genesis, nodes, fetch, timeoutMs: VOTE_MS_MAX }),
  ])
  return [
    await checkOwnRedis(operator, recordFile),
    ...checkObserved(observed, config, signed.offset, clock),
    checkVotes(signed),
    checkVersions(observed),
  ]
}

async function checkOwnRedis(operator: CheckedOperator, recordFile: string): Promise<Check> {
  const { config, services } = operator
  if (externalRedisOf(config) !== null) return checkRedis(config, operator)
  const redis = runningIn(recordFile).find(({ id }) => id === services[0]?.redis.id)
  return redis === undefined
    ? failed('Redis', 'it does not run', 'The output of `run` has the reason')
    : ok('Redis', `process ${redis.pid}`)
}
