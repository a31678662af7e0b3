import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { it as base } from '@quorumscan/testkit/fixtures'
import { expect } from 'vitest'
import { readRedisFailure } from './redis-log.ts'

const it = base.extend('failureOf', ({ directory }) => (...lines: readonly string[]) => {
  const file = join(directory, 'redis.log')
  writeFileSync(file, `${lines.join('\n')}\n`)
  return readRedisFailure(file)
})

const line = (message: string, level = '#') => `31:M 29 Nov 2026 01:22:10.280 ${level} ${message}`
const START = line('oO0OoO0OoO0Oo Redis is starting oO0OoO0OoO0Oo', '*')
const ADVICE = line('WARNING Memory overcommit must be enabled! Without it, a save may fail.')

it.for([
  'Bad file format reading the append only file appendonly.aof.1.incr.aof: make a backup of it',
  'Unexpected end of file reading the append only file appendonly.aof.1.incr.aof. You can: 1) …',
  "Unknown command 'SEX' reading the append only file appendonly.aof.1.incr.aof",
  'Internal error in RDB reading offset 0, function at rdb.c:2681 -> Unknown RDB encoding type 122',
  'Wrong RDB checksum expected: (1) but got (2). Aborting now.',
])('takes files for damaged after: %s', (reason, { failureOf }) => {
  expect(failureOf(START, ADVICE, line(reason))).toEqual({ reason, isDamage: true })
})

it.for([
  'Failed opening Unix socket: unix socket path too long (128), must be under 108',
  'Failed opening Unix socket: bind: Address already in use',
  "Can't open the append-only file appendonly.aof.1.incr.aof: Permission denied",
  'Out Of Memory allocating 1048576 bytes!',
  'Unrecoverable error reading the append only file appendonly.aof.1.incr.aof: Input/output error',
])('gives no files up after: %s', (reason, { failureOf }) => {
  expect(failureOf(START, ADVICE, line(reason))).toEqual({ reason, isDamage: false })
})

it('knows nothing without a log file or a reason in it, nor from an earlier start', ({
  directory,
  failureOf,
}) => {
  expect(readRedisFailure(null)).toBe(null)
  expect(readRedisFailure(join(directory, 'missing'))).toBe(null)
  expect(failureOf(START, ADVICE, line('Ready to accept connections', '*'))).toBe(null)
  const damage = line('Bad file format reading the append only file a.aof: make a backup')
  expect(failureOf(START, damage, START, line('Address in use'))).toEqual({
    reason: 'Address in use',
    isDamage: false,
  })
})
