export * from './ceremony/member.ts'
export { ORDERING_DRIVERS, type OrderingDriver, readSettings } from './ceremony/rules.ts'
export * from './confirm-rules.ts'
export * from './data-directory.ts'
export { readGenesis } from './genesis.ts'
export { checkerOf, REPAIR_OF_MEMBERS, type RepairOutcome, repairLog } from './log-repair.ts'
export {
  LOOPBACK,
  type Machine,
  plan,
  planRedis,
  type RedisUser,
  redisConfig,
} from './plan.ts'
export * from './proposals.ts'
export { redisMemoryBudget } from './redis-memory.ts'
export { acquireLock } from './run/directory-lock.ts'
export * from './secrets.ts'
export * from './signed-states.ts'
