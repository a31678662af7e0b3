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
export { validateProcesses, variablesOf } from './operator-services.ts'
export { createRunLog, type RunLog } from './run-log.ts'
export { runOperator } from './run-operator.ts'
export { refuseSecondMachine } from './second-machine.ts'
export { comfortableMib, readOverfullBytes } from './stored-memory.ts'
export { deleteReplicaAt, wipeReplica } from './wipe-replica.ts'
