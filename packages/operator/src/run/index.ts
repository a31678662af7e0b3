/** The processes of one operator: their configuration, their plan, and how they run. */
export { OWN_VARIABLES, readMembers, readOperatorConfig } from './operator-config.ts'
export { validateProcesses } from './operator-services.ts'
export { runOperator } from './run-operator.ts'
export { refuseSecondMachine } from './second-machine.ts'
