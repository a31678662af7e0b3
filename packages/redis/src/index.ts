export {
  type RedisAddress,
  type RedisConfig,
  readOwnRedis,
  readRedis,
  readRedisAddress,
  usesSentinels,
} from './address.ts'
export { COMMAND_TIMED_OUT } from './command-timeout.ts'
export { endConnection, execute, reaching } from './connection.ts'
export * from './memory.ts'
export { assertProfile, openCheckedRedis, openRedis, withRedis } from './profiles.ts'
export { checkSettings } from './settings.ts'
export { estimateBytes, type RedisWatch, readMemory, watchRedis } from './usage.ts'
