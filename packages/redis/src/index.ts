export { COMMAND_TIMED_OUT } from './command-timeout.ts'
export { createConnection, endConnection, openChecked, reaching } from './connection.ts'
export { type RedisUsage, type RedisWatch, watchRedis } from './usage.ts'
