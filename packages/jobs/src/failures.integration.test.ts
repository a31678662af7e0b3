import { itWithRedis as it } from '@quorumscan/testkit/fixtures'
import { expect } from 'vitest'
import { createFailures, type JobFailure } from './failures.ts'

it('the last hundred dropped jobs are stored, the newest first', async ({ redis }) => {
  const client = redis.connect()
  const failures = createFailures(client, 'jobs')
  const failureOf = (number: number): JobFailure => ({
    job: 'collect',
    contractId: `00${String(number).padStart(64, '0')}` as JobFailure['contractId'],
    code: 'INTERNAL',
    message: 'a defect',
    attempts: 8,
    at: number,
  })
  for (let number = 0; number < 120; number++) await failures.record(failureOf(number))
  const stored = await client.llen('jobs:failures')
  const listed = await failures.list()
  client.disconnect()
  expect([stored, listed.length, listed[0]?.at, listed.at(-1)?.at]).toEqual([100, 100, 119, 20])
})
