import { describe, expect, it } from 'vitest'
import type { LiveStatus } from '../rig/status.ts'
import { type EventMemory, step } from './events.ts'

/** Two nodes of which one must answer; what events do not look at is left out. */
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

/** What is said of states that are looked at every 250 ms. */
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
  it('are none where nothing changes, and none for the first look', () => {
    expect(saidOf([late, late, late])).toEqual([])
  })

  it('are none of a state that comes and goes, however often', () => {
    const looks = Array.from({ length: 40 }, (_, index) => (index % 4 < 2 ? whole : late))
    expect(saidOf(looks)).toEqual([])
  })

  it('tell once of a state that stays for a second', () => {
    expect(saidOf([whole, late, late, late, late, late, late, late])).toEqual([
      '5 sv-2 is catching up',
    ])
  })

  it('tell at once of a process that has ended, and later that the quorum is lost with it', () => {
    const down = statusOf(['down', 'down', 'up'])
    expect(saidOf([whole, down, down, down, down, down])).toEqual([
      '1 sv-1 is down',
      '1 sv-2 is down',
      '5 lookups: quorum lost',
    ])
  })

  it('tell at once of each fault, and that it is healed', () => {
    const broken = statusOf(['up', 'up', 'up'], ['lies: deny'])
    expect(saidOf([whole, broken, broken, whole])).toEqual([
      '1 sv-1 lies: deny',
      '3 sv-1 no longer lies: deny',
    ])
  })
})
