export {
  type Backoff,
  backoffMs,
  concatBytes,
  linkedController,
  readVarint,
  singleFlight,
  u64,
  utf8,
} from '@quorumscan/verifier'
export { AssertionError, assert, unreachable } from './assert.ts'
export * from './bytes.ts'
export * from './client-tls.ts'
export { type Clock, createSystemClock, MICROS_PER_MS } from './clock.ts'
export * from './env.ts'
export { describeFileError, describeReadError } from './file-errors.ts'
export {
  findRedis,
  isRedisNewEnough,
  REDIS_VERSION_MIN,
  readRedisVersion,
  redisCache,
} from './find-redis.mjs'
export { HEARTBEAT_VARIABLE, startHeartbeat } from './heartbeat.ts'
export { bytesOfCache, type Held, type HeldSize, held, heldSizes, membersOf } from './held.ts'
export { mapInTurns } from './in-turns.ts'
export * from './keys.ts'
export { median } from './median.ts'
export { ByteReader, ByteWriter } from './packed-bytes.ts'
export { printable, printableJson, printableLines } from './printable.ts'
export { type Random, randomHex, systemRandom } from './random.ts'
export { hasTerminal, onReload, reloadCount, requestReload } from './reload.ts'
export { openAll, Resources } from './resources.ts'
export * from './run-process.ts'
export { parseKeyFile, readKeyPair, readParsed, readSecret } from './secrets.ts'
export { createShares, createTurns, type Shares, type Turns } from './shares.ts'
export { readSoftware, SOFTWARE_ROOT } from './software.ts'
export { splitFrames } from './split-frames.ts'
export * from './waiting.ts'
