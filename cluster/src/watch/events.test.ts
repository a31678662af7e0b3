import { describe, expect, it } from 'vitest'
import type { LiveStatus } from '../rig/status.ts'
import { type EventMemory, step } from './events.ts'

/** Two nodes of which one must answer. Members that events do not use are left out. */
function statusOf(states: readonly string[], faults: readonly string[] = []): LiveStatus {
  return {
    cluster: { readThreshold: 2 },
    nodes: states.map((state, index) => ({
      name: `sv-${index + 1}`,
      state,
      isCounted: state === 'up',
    })),
    validator: { state: 'up' },
    synchronizer: { state: 'up' },
    members: [],
    atNodes: null,
    faults: faults.map((words) => ({ id: words, spec: { node: 'sv-1' }, words })),
  } as unknown as LiveStatus
}

/** The events of statuses that follow each other after 250 ms. */
function saidOf(looks: readonly LiveStatus[]): string[] {
  const said: string[] = []
  let memory: EventMemory | null = null
  for (const [index, look] of looks.entries()) {
    const next = step(memory, look, index * 250)
    memory = next.memory
    said.push(...next.events.map(({ sentence }) => `${index} ${sentence}`))
  }
  return said
}

const whole = statusOf(['up', 'up', 'up'])
const late = statusOf(['up', 'catching-up', 'up'])

describe('events', () => {
  it('do not occur without a change, and not for the first status', () => {
    expect(saidOf([late, late, late])).toEqual([])
  })

  it('do not occur for a state that lasts shortly, however often', () => {
    const looks = Array.from({ length: 40 }, (_, index) => (index % 4 < 2 ? whole : late))
    expect(saidOf(looks)).toEqual([])
  })

  it('report a state that lasts for a second, once', () => {
    expect(saidOf([whole, late, late, late, late, late, late, late])).toEqual([
      '5 sv-2 is catching up',
    ])
  })

  it('report at once a process that has exited, and later the lost quorum', () => {
    const down = statusOf(['down', 'down', 'up'])
    expect(saidOf([whole, down, down, down, down, down])).toEqual([
      '1 sv-1 is down',
      '1 sv-2 is down',
      '5 lookups: quorum lost',
    ])
  })

  it('report at once each fault, and when it is healed', () => {
    const broken = statusOf(['up', 'up', 'up'], ['lies: deny'])
    expect(saidOf([whole, broken, broken, whole])).toEqual([
      '1 sv-1 lies: deny',
      '3 sv-1 no longer lies: deny',
    ])
  })
})
