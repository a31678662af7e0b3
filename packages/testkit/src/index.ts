export { createManualClock, type ManualClock } from './manual-clock.ts'
export { startRedis, type TestRedis } from './redis.ts'
