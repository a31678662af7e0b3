import { createManualClock } from '@quorumscan/testkit'
import { expect, it } from 'vitest'
import { createSilence, SILENCE_TICK_MS, SILENT_MS_MAX } from './silence.ts'

const TICKS = SILENT_MS_MAX / SILENCE_TICK_MS

async function start() {
  const clock = createManualClock()
  const silence = createSilence(clock)
  const tick = async (ms = SILENCE_TICK_MS) => {
    await clock.advance(ms)
    return silence.count()
  }
  /** How many ticks it takes until the silence is too long. */
  const ticksLeft = async () => {
    for (let count = 1; ; count++) if (await tick()) return count
  }
  return { silence, tick, ticksLeft }
}

it('a process is silent for too long after a minute', async () => {
  const { ticksLeft } = await start()
  expect(await ticksLeft()).toBe(TICKS)
})

it('a process that is heard once a minute is never silent for too long', async () => {
  const { silence, tick, ticksLeft } = await start()
  for (let count = 1; count < TICKS; count++) expect(await tick()).toBe(false)
  silence.end()
  expect(await ticksLeft()).toBe(TICKS)
})

it('an hour in which the supervisor was stopped does not count', async () => {
  const { tick, ticksLeft } = await start()
  expect(await tick(3_600_000)).toBe(false)
  expect(await ticksLeft()).toBe(TICKS - 2)
})
