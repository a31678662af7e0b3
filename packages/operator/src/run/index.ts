/** The processes of one operator: their configuration, their plan, and how they run. */

export { type Check, describeCheck } from '../checks/check.ts'
export { checkedOperator } from '../checks/operator.ts'
export { checkRunning } from '../checks/running.ts'
export { checkStart } from '../checks/start.ts'
export { findOwner } from './directory-lock.ts'
export {
  BACKUP_VARIABLES,
  findRole,
  OPTIONAL_VARIABLES,
  type OperatorConfig,
  OWN_VARIABLES,
  readMembers,
  readOperatorConfig,
} from './operator-config.ts'
export { validateProcesses } from './operator-services.ts'
export { createRunLog } from './run-log.ts'
export { runOperator } from './run-operator.ts'
export { refuseSecondMachine } from './second-machine.ts'
export { deleteReplicaAt, wipeReplica } from './wipe-replica.ts'
