import { expect, it } from 'vitest'
import { FAULTS } from '../../faults/fault-spec.ts'
import { planSchedule, type Step, scenario, shrink } from './schedule.ts'

const nodeNames = ['sv-1', 'sv-2', 'sv-3', 'sv-4', 'sv-5', 'sv-6', 'sv-7']
const plan = (seed: string, faultyMax = 2) =>
  planSchedule({ seed, durationMs: 60_000, nodeNames, faultyMax, ordering: 'redis' })

it('the schedule is equal for equal seeds, and differs for different seeds', () => {
  expect(plan('1')).toEqual(plan('1'))
  expect(plan('1')).not.toEqual(plan('2'))
})

it.each([0, 1, 2, 4])('has never more than %d super-validators faulty at once', (faultyMax) => {
  for (let seed = 0; seed < 20; seed++) {
    const steps = plan(String(seed), faultyMax)
    for (const { atMs } of steps) {
      const faulty = steps.filter(
        (step) =>
          step.fault.kind !== 'flood' &&
          step.fault.node.startsWith('sv-') &&
          step.atMs <= atMs &&
          atMs < step.atMs + step.durationMs,
      )
      expect(new Set(faulty.map(({ fault }) => fault.node)).size).toBe(faulty.length)
      expect(faulty.length).toBeLessThanOrEqual(faultyMax)
    }
    expect(steps.every((step) => step.atMs + step.durationMs <= 63_000)).toBe(true)
  }
})

it('begins each lane with a lie that leaves evidence', () => {
  const steps = plan('1')
  const first = [0, 1].map((lane) => steps.find((step) => step.lane === lane)?.fault)
  expect(first).toMatchObject([{ lie: 'equivocate' }, { lie: 'equivocate' }])
})

it('floods honest nodes while one lies to a single reader, in every run', () => {
  for (let seed = 0; seed < 20; seed++) {
    const steps = plan(String(seed), 1)
    const lies = steps.filter(({ fault }) => fault.kind === 'lie' && fault.to !== undefined)
    expect(lies.length).toBeGreaterThan(0)
    for (const { atMs, fault: lie } of lies) {
      const floods = steps.filter(
        ({ fault, ...step }) => fault.kind === 'flood' && step.atMs === atMs,
      )
      const nodes = floods.map(({ fault }) => fault.node)
      expect([new Set(nodes).size, nodes.includes(lie.node)]).toEqual([2, false])
    }
  }
})

it('has faults of engines and their links only where members order', () => {
  const isOfMember = ({ fault }: Step) =>
    ('part' in fault && (fault.part === 'cometbft' || fault.part === 'synchronizer')) ||
    ('edge' in fault && fault.edge === 'p2p')
  const options = { seed: '1', durationMs: 600_000, nodeNames, faultyMax: 2 }
  expect(planSchedule({ ...options, ordering: 'cometbft' }).some(isOfMember)).toBe(true)
  expect(planSchedule({ ...options, ordering: 'redis' }).some(isOfMember)).toBe(false)
})

it('draws every kind of fault', () => {
  const options = { durationMs: 3_600_000, nodeNames, faultyMax: 2 } as const
  const steps = planSchedule({ ...options, seed: '1', ordering: 'cometbft' })
  const drawn = new Set<string>(steps.map(({ fault }) => fault.kind))
  expect([...drawn].sort()).toEqual([...Object.keys(FAULTS), 'wipe'].sort())
})

it('the schedule is a scenario that can be stored and run again', () => {
  const steps = plan('7')
  const written = {
    seed: '7',
    durationMs: 60_000,
    nodes: 7,
    budget: 'f',
    allowsUnexercised: false,
    steps,
  }
  expect(scenario.parse(JSON.parse(JSON.stringify(written))).steps).toEqual(steps)
})

it('shrinks to the steps that make it fail', async () => {
  const steps = plan('3')
  const [culprit, accomplice] = [steps[1], steps[6]]
  let runs = 0
  const fewest = await shrink(steps, {
    runsMax: 100,
    fails: async (rest) => {
      runs += 1
      return [culprit, accomplice].every((step) => rest.some((one) => one === step))
    },
  })
  expect(fewest).toEqual([culprit, accomplice])
  expect(runs).toBeLessThan(100)
})
