/** The log lines of a validator while its operator cannot be registered. */
import { ScanError } from '@quorumscan/errors'
import { createLogger } from '@quorumscan/runtime'
import { createManualClock } from '@quorumscan/testkit'
import { expect, it } from 'vitest'
import { OPERATOR_RETRY_MS, untilRegistered } from './registration.ts'

/** The log lines of tries that fail with these errors, one after the other. */
async function linesOf(failures: readonly Error[]): Promise<{ level: string; err: string }[]> {
  const lines: { level: string; err: string }[] = []
  const logger = createLogger({
    name: 'validator',
    level: 'info',
    stream: {
      write(line) {
        const { level, err } = JSON.parse(line)
        lines.push({ level, err: err.message })
      },
    },
  })
  const clock = createManualClock()
  const stopping = new AbortController()
  const rest = [...failures]
  const running = untilRegistered({ clock, logger }, stopping.signal, async () => {
    const failure = rest.shift()
    if (failure !== undefined) throw failure
    stopping.abort()
    stopping.signal.throwIfAborted()
  })
  while (!stopping.signal.aborted) await clock.advance(OPERATOR_RETRY_MS)
  expect(await running).toBe(false)
  return lines
}

it('logs a failure when it begins, and not at every try', async () => {
  const full = new ScanError('LOG_FULL', 'the disk of the log is full')
  const bug = new TypeError('a bug')
  expect(await linesOf([full, full, bug, bug, full])).toEqual([
    { level: 'warn', err: 'the disk of the log is full' },
    { level: 'warn', err: 'a bug' },
    { level: 'warn', err: 'the disk of the log is full' },
  ])
})

it('logs a wait for the start at level info, and lost users at level fatal', async () => {
  const starting = new ScanError('NOT_READY', 'the replica is catching up')
  const lost = new ScanError('USERS_LOST', 'the users are lost')
  expect(await linesOf([starting, starting, lost, lost])).toEqual([
    { level: 'info', err: 'the replica is catching up' },
    { level: 'fatal', err: 'the users are lost' },
  ])
})

it('tries again after half a second, and not before', async () => {
  let tryCount = 0
  const clock = createManualClock()
  const stopping = new AbortController()
  const logger = createLogger({ name: 'validator', level: 'silent' })
  const running = untilRegistered({ clock, logger }, stopping.signal, () => {
    tryCount += 1
    return Promise.reject(new ScanError('NOT_READY', 'the replica is catching up'))
  })
  // The first try fails, and the delay begins.
  await new Promise((resolve) => setImmediate(resolve))
  await clock.advance(499)
  expect(tryCount).toBe(1)
  await clock.advance(1)
  expect(tryCount).toBe(2)
  stopping.abort()
  expect(await running).toBe(false)
})
