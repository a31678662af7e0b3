import { createManualClock } from '@quorumscan/testkit'
import { expect, it } from 'vitest'
import { createAlarm } from './alarms.ts'

it('an alarm is told once a minute and subject, with how many were left out', async () => {
  const clock = createManualClock()
  const lines: [object, string][] = []
  const alarm = createAlarm({
    monotonicMs: clock.monotonicMs,
    log: (fields, text) => lines.push([fields, text]),
  })
  const raise = (subject: string, number: number) =>
    alarm({ subject, text: `${subject} again`, fields: { number } })
  for (let number = 1; number <= 1000; number++) raise('sv-3', number)
  raise('sv-4', 1)
  await clock.advance(59_999)
  raise('sv-3', 1001)
  await clock.advance(1)
  raise('sv-3', 1002)
  raise('sv-3', 1003)
  expect(lines).toEqual([
    [{ number: 1, leftOut: 0 }, 'sv-3 again'],
    [{ number: 1, leftOut: 0 }, 'sv-4 again'],
    [{ number: 1002, leftOut: 1000 }, 'sv-3 again'],
  ])
})
