export {
  KEYS_OF,
  type Member,
  type MemberOf,
  parseMember,
  ROLE_OF,
  ROLES,
  type Role,
  type Runnable,
  writeMember,
} from './ceremony/member.ts'
export { ORDERING_DRIVERS, type OrderingDriver, readSettings } from './ceremony/rules.ts'
export {
  type AnsConfig,
  type AnsConfigInput,
  ansConfigInput,
  areRulesEqual,
  type Confirmer,
  changeRules,
  confirm,
  confirmRules,
  type RulesInForce,
  readRules,
} from './confirm-rules.ts'
export { type DataDirectory, dataDirectory } from './data-directory.ts'
export { readGenesis } from './genesis.ts'
export { REPAIR_OF_MEMBERS, type RepairOutcome, repairLog } from './log-repair.ts'
export { faultSocketsOf, LOOPBACK, type Machine, plan, planRedis } from './plan.ts'
export * from './proposals.ts'
export { type RedisUser, redisConfig } from './redis-config.ts'
export { takeOver } from './run/take-over.ts'
export * from './secrets.ts'
export {
  askSignedStates,
  EQUIVOCATED,
  newestSigned,
  type SignedState,
  type SignedStates,
} from './signed-states.ts'
