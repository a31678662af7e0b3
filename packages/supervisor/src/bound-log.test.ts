import { appendFileSync, readFileSync, statSync, truncateSync } from 'node:fs'
import { join } from 'node:path'
import { it } from '@quorumscan/testkit/fixtures'
import { expect } from 'vitest'
import { boundLog } from './supervisor.ts'

const MIB = 2 ** 20

it('a log file above 16 MiB is emptied, and its text is in one other file', ({ directory }) => {
  const path = join(directory, 'node.log')
  boundLog(path)
  appendFileSync(path, 'first')
  truncateSync(path, 16 * MIB)
  boundLog(path)
  expect(statSync(path).size).toBe(16 * MIB)
  appendFileSync(path, '.')
  boundLog(path)
  expect([statSync(path).size, statSync(`${path}.1`).size]).toEqual([0, 16 * MIB + 1])
  appendFileSync(path, 'second')
  truncateSync(path, 17 * MIB)
  boundLog(path)
  expect(readFileSync(`${path}.1`, 'utf8').slice(0, 6)).toBe('second')
})
