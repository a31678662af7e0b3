import { execFileSync } from 'node:child_process'
import { closeSync, constants, openSync, readSync } from 'node:fs'
import { HEARTBEAT_VARIABLE, startHeartbeat } from '@quorumscan/base'
import { createDirectory, untilTrue } from '@quorumscan/testkit'
import { afterEach, expect, it, vi } from 'vitest'

afterEach(() => {
  vi.useRealTimers()
})

/** A pipe, whose end to write is the one that this process inherited. */
function openPipe(directory: string) {
  const path = `${directory}/pipe`
  execFileSync('mkfifo', [path])
  const reading = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK)
  process.env[HEARTBEAT_VARIABLE] = String(openSync(path, 'w'))
  const read = (): string => {
    const bytes = Buffer.alloc(100)
    try {
      return bytes.toString('latin1', 0, readSync(reading, bytes))
    } catch {
      return '' // Nothing was written.
    }
  }
  return { read, close: () => closeSync(reading) }
}

it('shows life at once and every second, and passes nothing on to other programs', async () => {
  using directory = createDirectory()
  const pipe = openPipe(directory.path)
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
  startHeartbeat()
  expect(process.env[HEARTBEAT_VARIABLE]).toBeUndefined()
  await untilTrue('the first beat', () => pipe.read() === '.')
  vi.advanceTimersByTime(1000)
  await untilTrue('the next beat', () => pipe.read() === '.')
  pipe.close()
  vi.advanceTimersByTime(1000)
  await untilTrue('it to stop without its supervisor', () => vi.getTimerCount() === 0)
})

it('does nothing without a supervisor that listens', () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
  startHeartbeat()
  expect(vi.getTimerCount()).toBe(0)
})
