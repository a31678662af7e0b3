import { systemRandom } from '@quorumscan/base'
import { expect, it } from 'vitest'
import { FOLLOW_START, type FollowEvent, stepFollow } from './reconnect.ts'

const random = { ...systemRandom, fraction: () => 1 }

/** The delay after each event; null: no further attempt. */
function waits(...events: readonly FollowEvent[]): (number | null)[] {
  let state = FOLLOW_START
  return events.map((event) => {
    const step = stepFollow(state, event, random)
    state = step.state
    return step.retryMs
  })
}

it('waits increasingly long for a log that is down, at most 2 s, without limit', () => {
  const all = waits(...Array<FollowEvent>(8).fill('lost'))
  expect(all).toEqual([50, 100, 200, 400, 800, 1600, 2000, 2000])
})

it('resets the delay once a stream has the group that was applied last', () => {
  expect(waits('lost', 'lost', 'joined', 'lost')).toEqual([50, 100, 0, 50])
})

it('reports damage after six damaged groups without progress', () => {
  const again: FollowEvent[] = ['joined', 'lost', 'damaged']
  expect(waits('damaged', ...again, ...again, ...again, ...again, ...again)).toEqual([
    50,
    0,
    50,
    100,
    0,
    50,
    200,
    0,
    50,
    400,
    0,
    50,
    800,
    0,
    50,
    null,
  ])
})

it('continues after a group was damaged in transit', () => {
  const accident: FollowEvent[] = [...Array<FollowEvent>(5).fill('damaged'), 'joined', 'grown']
  expect(waits(...accident, ...accident, 'damaged')).not.toContain(null)
})
