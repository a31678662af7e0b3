import { describe, expect, it } from 'vitest'
import type { LiveStatus } from '../../rig/status.ts'
import { type EventMemory, nextEvents } from './events.ts'

/** A fault of sv-1. */
type Broken = { readonly kind: string; readonly words: string }

/** Two nodes of which one must answer. Members that events do not use are left out. */
function statusOf(states: readonly string[], faults: readonly Broken[] = []): LiveStatus {
  return {
    cluster: { readThreshold: 2 },
    nodes: states.map((state, index) => ({
      name: `sv-${index + 1}`,
      state,
      isHealthy: state === 'up',
      isCounted: state === 'up',
    })),
    validator: { state: 'up' },
    synchronizer: { state: 'up' },
    members: [],
    atNodes: null,
    faults: faults.map(({ kind, words }) => ({ id: words, spec: { kind, node: 'sv-1' }, words })),
  } as unknown as LiveStatus
}

/** The events of statuses that follow each other after 250 ms. */
function eventsOf(statuses: readonly LiveStatus[]): string[] {
  const events: string[] = []
  let memory: EventMemory | null = null
  for (const [index, status] of statuses.entries()) {
    const next = nextEvents(memory, status, index * 250)
    memory = next.memory
    events.push(...next.events.map(({ sentence }) => `${index} ${sentence}`))
  }
  return events
}

const whole = statusOf(['up', 'up', 'up'])
const late = statusOf(['up', 'catching-up', 'up'])

describe('events', () => {
  it('do not occur without a change, and not for the first status', () => {
    expect(eventsOf([late, late, late])).toEqual([])
  })

  it('do not occur for a state that lasts shortly, however often', () => {
    const statuses = Array.from({ length: 40 }, (_, index) => (index % 4 < 2 ? whole : late))
    expect(eventsOf(statuses)).toEqual([])
  })

  it('report a state that lasts for a second, once', () => {
    expect(eventsOf([whole, late, late, late, late, late, late, late])).toEqual([
      '5 sv-2 is catching up',
    ])
  })

  it('report at once a process that has exited, and later that too few nodes are up', () => {
    const down = statusOf(['down', 'down', 'up'])
    expect(eventsOf([whole, down, down, down, down, down])).toEqual([
      '1 sv-1 is down',
      '1 sv-2 is down',
      '5 lookups: too few nodes',
    ])
  })

  it('report at once each fault, and when it is healed', () => {
    const broken = statusOf(['up', 'up', 'up'], [{ kind: 'lie', words: 'lies: deny' }])
    expect(eventsOf([whole, broken, broken, whole])).toEqual([
      '1 sv-1 lies: deny',
      '3 sv-1 no longer lies: deny',
    ])
  })
  it.each([
    ['pause', 'paused'],
    ['kill', 'down'],
  ])('report a %s once, by the fault, and later that the node is up again', (kind, state) => {
    const words = `${kind} of sv-1`
    const broken = statusOf([state, 'up', 'up'], [{ kind, words }])
    expect(eventsOf([whole, broken, broken, whole, whole, whole, whole, whole])).toEqual([
      `1 sv-1 ${words}`,
      `3 sv-1 no longer ${words}`,
      '7 sv-1 is up',
    ])
  })

  it('report a state that no fault of the node explains', () => {
    const paused = statusOf(['up', 'paused', 'up'], [{ kind: 'pause', words: 'paused' }])
    expect(eventsOf([whole, paused])).toEqual(['1 sv-1 paused', '1 sv-2 is paused'])
  })
})
