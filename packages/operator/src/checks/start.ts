/** The checks that need no running process. `run` makes them first, and `run --check` makes them alone. */
import { KEYS_OF, ROLE_OF } from '../ceremony/member.ts'
import { findEngine } from '../engine/find-engine.ts'
import type { OperatorConfig } from '../run/operator-config.ts'
import { warningsOf } from '../run/operator-services.ts'
import { refuseSecondMachine } from '../run/second-machine.ts'
import { checkAddresses } from './addresses.ts'
import { asserted, type Check, ok, warningIn } from './check.ts'
import { checkDirectory } from './directory.ts'
import { checkRedis } from './machine.ts'
import { type CheckedOperator, checkShared, locateNodes } from './operator.ts'
import { checkEngines, checkLog } from './peers.ts'

/** @param isRunning - Whether `run` is active: it holds the addresses, and its node answers with its key. */
export async function checkStart(
  operator: CheckedOperator,
  isRunning: boolean,
): Promise<readonly Check[]> {
  const { config, env, clock, isMemberOrdered, followers } = operator
  const { members, name, runs, variables } = config
  const nodes = await locateNodes(operator)
  const checks = await Promise.all([
    checkConfiguration(config),
    ok('keys', `${KEYS_OF[ROLE_OF[runs]].join(', ')}: those of genesis and member file`),
    checkDirectory(config),
    isRunning ? [] : checkAddresses(config),
    checkRedis(config, operator),
    isMemberOrdered ? asserted('engine', () => findEngine({ ...env, ...variables })) : [],
    checkShared(operator, nodes),
    isMemberOrdered ? checkEngines(members, name) : [],
    ...followers.map((follower) => checkLog(follower, clock)),
    isRunning || runs !== 'sv'
      ? []
      : asserted('other machine', async () => {
          await refuseSecondMachine(config, clock)
          return `none answers with the keys of ${name}`
        }),
  ])
  return checks.flat()
}

function checkConfiguration(config: OperatorConfig): Check {
  const [problem] = warningsOf(config)
  return problem === undefined
    ? ok('configuration', `${Object.keys(config.variables).length} variables and their files`)
    : warningIn('configuration', problem, 'Correct it')
}
