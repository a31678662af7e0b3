export {
  isBehindSentinels,
  type RedisAddress,
  type RedisConfig,
  readOwnRedis,
  readRedis,
  readRedisAddress,
} from './address.ts'
export { COMMAND_TIMED_OUT } from './command-timeout.ts'
export {
  assertSettings,
  createConnection,
  endConnection,
  openChecked,
  reaching,
} from './connection.ts'
export { checkSettings } from './settings.ts'
export { type RedisUsage, type RedisWatch, watchRedis } from './usage.ts'
