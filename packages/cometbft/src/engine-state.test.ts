import { expect, it } from 'vitest'
import {
  ENGINE_START,
  type EngineReading,
  type EngineState,
  isRestartDue,
  RESTART_MS,
  refusalOf,
  STUCK_MS,
  stepEngine,
} from './engine-state.ts'

const up = (...peerHeights: number[]): EngineReading => ({
  kind: 'up',
  isCatchingUp: false,
  peerHeights,
})
const away: EngineReading = { kind: 'unreachable' }

type Moment = readonly [nowMs: number, height: number, reading: EngineReading]

it.each<[string, EngineState, readonly Moment[]]>([
  [
    'is live while blocks arrive',
    'live',
    [
      [0, 5, up(6, 6, 6)],
      [STUCK_MS, 6, up(7, 7, 7)],
    ],
  ],
  [
    'does not answer',
    'unavailable',
    [
      [0, 5, up(6)],
      [STUCK_MS, 5, away],
    ],
  ],
  [
    'is live at first after a long outage',
    'live',
    [
      [0, 5, up(6)],
      [1, 5, away],
      [STUCK_MS, 5, up(9, 9, 9)],
    ],
  ],
  [
    'catches up',
    'catching-up',
    [[0, 5, { kind: 'up', isCatchingUp: true, peerHeights: [9, 9, 9] }]],
  ],
  [
    'stalls together with its peers',
    'stalled',
    [
      [0, 5, up(6, 6, 6)],
      [STUCK_MS, 5, up(6, 6, 6)],
    ],
  ],
  [
    'stalls alone',
    'stalled',
    [
      [0, 5, up()],
      [STUCK_MS, 5, up()],
    ],
  ],
  [
    'is halted if its peers continue without it',
    'halted',
    [
      [0, 5, up(6, 6, 6)],
      [STUCK_MS, 5, up(9, 9, 5)],
    ],
  ],
  [
    'is not halted by the claims of f peers',
    'stalled',
    [
      [0, 5, up(6, 6, 6)],
      [STUCK_MS, 5, up(9, 6, 6)],
    ],
  ],
])('an engine %s', (_, want, moments) => {
  let history = ENGINE_START
  for (const [nowMs, height, reading] of moments)
    history = stepEngine(history, { nowMs, height, reading, set: { f: 1 } })
  expect(history.state).toBe(want)
})

it.each<[EngineState, string | undefined]>([
  ['unavailable', 'DEPENDENCY_UNAVAILABLE'],
  ['catching-up', 'NOT_READY'],
  ['halted', 'ORDERING_HALTED'],
  ['live', undefined],
  ['stalled', undefined],
])('an engine that is %s refuses entries with %s', (state, code) => {
  expect(refusalOf(state, false)?.code).toBe(code)
})

it('an engine that fetches blocks without peers reports the likely reasons', () => {
  expect(refusalOf('catching-up', false)?.message).toContain('fetches')
  expect(refusalOf('catching-up', true)?.message).toMatch(/^no other engine .*QS_MEMBERS/)
  expect(refusalOf('live', true)).toBeNull()
})

it.each<[string, boolean, EngineState, EngineReading, number]>([
  ['stalls with enough peers', true, 'stalled', up(6, 6), Number.NEGATIVE_INFINITY],
  ['lacks the peers for a quorum', false, 'stalled', up(6), Number.NEGATIVE_INFINITY],
  ['is halted', true, 'halted', up(9, 9), Number.NEGATIVE_INFINITY],
  ['was restarted recently', false, 'stalled', up(6, 6), 1],
  ['is live', false, 'live', up(6, 6), Number.NEGATIVE_INFINITY],
])('an engine that %s: a restart is due: %s', (_, isDue, state, reading, restartedMs) => {
  const history = { state, height: 5, sinceMs: 0 }
  const event = { reading, restartedMs, set: { quorum: 3 } }
  expect(isRestartDue(history, { ...event, nowMs: RESTART_MS })).toBe(isDue)
  expect(isRestartDue(history, { ...event, nowMs: RESTART_MS - 1 })).toBe(false)
})
