import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpus } from 'node:os'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { waitLimitMs } from './time-limits.ts'
import { until, untilRead, untilTrue } from './until.ts'

afterEach(() => {
  vi.useRealTimers()
  vi.unstubAllEnvs()
})

it('a wait resolves when its condition holds', async () => {
  let count = 0
  await untilTrue('the third time', () => ++count === 3)
  expect(count).toBe(3)
})

it('a wait for a value shows the last one at its end', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
  const waiting = async (values: readonly unknown[]) => {
    const left = [...values]
    const read = () => (left.length > 1 ? left.shift() : left[0])
    const rejected = untilRead('the moon', read, () => false).catch((error: Error) => error.message)
    await vi.advanceTimersByTimeAsync(10 * waitLimitMs())
    return await rejected
  }
  const diverged = { status: 503, text: '{"code":"STATE_DIVERGED"}', ms: 3 }
  expect(await waiting([{ status: 404, text: '' }, diverged])).toMatch(
    /waiting for the moon; last seen: 503 {"code":"STATE_DIVERGED"}$/,
  )
  expect(await waiting([undefined])).toMatch(/; last seen: undefined$/)
  expect(await waiting([{ coin: 200 }])).toMatch(/; last seen: {"coin":200}$/)
})

describe('the deadline of a wait', () => {
  /** The time of a fake clock, in ms, at which a wait for a condition that never holds times out. */
  async function timeoutAtMs(): Promise<number> {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
    const startMs = performance.now()
    const waiting = until('the moon', () => undefined).then(
      () => Number.NaN,
      (error: Error) => {
        expect(error.message).toMatch(/waiting for the moon$/)
        return performance.now() - startMs
      },
    )
    await vi.advanceTimersByTimeAsync(10 * waitLimitMs())
    return await waiting
  }

  it('is the limit of its kind of tests times TEST_SLOWNESS', async () => {
    vi.stubEnv('TEST_WAIT_MS', '45000')
    for (const [factor, ms] of [
      ['', 45_000],
      ['2', 90_000],
      ['0.1', 4_500],
    ] as const) {
      vi.stubEnv('TEST_SLOWNESS', factor)
      expect(await timeoutAtMs()).toBe(ms)
    }
    vi.stubEnv('TEST_SLOWNESS', 'slow')
    await expect(until('the moon', () => undefined)).rejects.toThrow(/TEST_SLOWNESS is "slow"/)
  })

  it('does not change while other processes use every core', async () => {
    const program = "process.stdout.write('on'); for (;;);"
    const busyProcesses = Array.from({ length: 2 * cpus().length }, () =>
      spawn(process.execPath, ['-e', program], { stdio: ['ignore', 'pipe', 'ignore'] }),
    )
    try {
      await Promise.all(busyProcesses.map(({ stdout }) => once(stdout, 'data')))
      expect(await timeoutAtMs()).toBe(waitLimitMs())
    } finally {
      for (const child of busyProcesses) child.kill('SIGKILL')
    }
  })

  it('can be extended, but not shortened', async () => {
    vi.stubEnv('TEST_WAIT_MS', '45000')
    vi.stubEnv('TEST_SLOWNESS', '2')
    const sooner = until('the moon', () => undefined, { timeoutMs: 44_000 })
    await expect(sooner).rejects.toThrow('a wait for the moon of 88000 ms: every wait has 90000 ms')
    expect(await until('now', () => 1, { timeoutMs: 46_000 })).toBe(1)
  })
})
