/** The checks of an operator whose processes run: those of `status`. */
import { doesRedisAnswer, existingSocketDirectory, runningIn } from '@quorumscan/supervisor'
import { findOwner } from '../run/directory-lock.ts'
import { externalRedisOf, planOwnRedis } from '../run/operator-services.ts'
import { askSignedStates } from '../signed-states.ts'
import { checkBackup } from './backup.ts'
import { type Check, failed, ok } from './check.ts'
import { checkRedis } from './machine.ts'
import { type CheckedOperator, checkShared, locateNodes } from './operator.ts'
import { checkVotes } from './peers.ts'
import {
  blameNobody,
  causedByDisk,
  checkMembers,
  checkMemory,
  checkObserved,
  checkVersions,
  newestSignedOf,
  observe,
  readOutput,
} from './processes.ts'

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
  const [{ own: found, others }, shared] = await Promise.all([
    isRunning ? checkProcesses(operator, nodes) : { own: [notRunning(operator)], others: [] },
    checkShared(operator, nodes),
  ])
  const disk = shared.find(({ name }) => name === 'disk')
  const own = isRunning ? causedByDisk(found, disk, config.runs) : found
  const backups = backupDirectory === null ? [] : [checkBackup(backupDirectory, clock)]
  return { isRunning, checks: [...own, ...blameNobody(others, own), ...shared, ...backups] }
}

function notRunning({ config }: CheckedOperator): Check {
  const advice = `Check it with \`quorumscan run ${config.runs} --check\`, then start it`
  return failed('processes', `none runs: no \`run\` is active in ${config.directory.path}`, advice)
}

async function checkProcesses(operator: CheckedOperator, nodes: CheckedOperator['nodes']) {
  const { config, services, fetch, clock } = operator
  const { genesis, directory } = config
  const { recordFile } = directory.processes
  const [redis, observed] = await Promise.all([
    checkOwnRedis(operator, recordFile),
    observe(services, recordFile),
  ])
  const memory = checkMemory(observed)
  const judged = observed.at(-1)?.health?.members ?? null
  if (judged !== null) {
    const { own, others } = checkObserved(observed, config, newestSignedOf(judged), clock)
    const members = checkMembers(judged, { own: config.name, others })
    return {
      own: [redis, ...memory, ...own],
      others: [...others, members, checkVersions(observed)],
    }
  }
  // The one synchronizer judges no member; a process that is down judges none now.
  const signed = await askSignedStates(0, { genesis, nodes, fetch, timeoutMs: VOTE_MS_MAX })
  const { own, others } = checkObserved(observed, config, signed.offset, clock)
  return {
    own: [redis, ...memory, ...own],
    others: [...others, checkVotes(signed), checkVersions(observed)],
  }
}

async function checkOwnRedis(operator: CheckedOperator, recordFile: string): Promise<Check> {
  const { config, services } = operator
  if (externalRedisOf(config) !== null) return checkRedis(config, operator)
  const advice = readOutput(config.runs)
  const redis = runningIn(recordFile).find(({ id }) => id === services[0]?.redis.id)
  if (redis === undefined) return failed('Redis', 'it does not run', advice)
  const sockets = existingSocketDirectory(config.directory)
  const doesAnswer =
    sockets !== null && (await doesRedisAnswer(planOwnRedis(operator, sockets).redisAddress))
  return doesAnswer
    ? ok('Redis', `process ${redis.pid}`)
    : failed(
        'Redis',
        `process ${redis.pid} does not answer; \`run\` ends and restarts one that hangs for a minute`,
        advice,
      )
}
