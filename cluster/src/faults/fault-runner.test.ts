import { join } from 'node:path'
import { CommandError } from '@quorumscan/runtime'
import type { ServiceRunner } from '@quorumscan/supervisor'
import { createManualClock } from '@quorumscan/testkit'
import { it as base } from '@quorumscan/testkit/fixtures'
import { expect } from 'vitest'
import { type Effect, processFaultsOf } from './effects.ts'
import { FaultRunner } from './fault-runner.ts'
import { type FaultSpec, faultSpec } from './fault-spec.ts'

const it = base.extend('createWorld', ({ directory }) => (steps: Partial<Steps> = {}) => {
  const clock = createManualClock()
  const done: string[] = []
  const effect: Effect<FaultSpec> = {
    begin: async (_, spec) => {
      done.push(`+${spec.kind} ${spec.node}`)
      await steps.begin?.(spec)
    },
    end: async (_, spec) => {
      done.push(`-${spec.kind} ${spec.node}`)
      return []
    },
    isInForce: (_, spec) => steps.isInForce?.(spec) ?? true,
  }
  const create = () =>
    new FaultRunner({
      services,
      clock,
      dataDirectory: directory,
      file: join(directory, 'faults.json'),
      onMalformed: () => {},
      effectOf: () => effect as never,
    })
  return { clock, done, create, control: create() }
})

const lie = (node: string, kind = 'value') => faultSpec.parse({ kind: 'lie', node, lie: kind })
const kill = (node: string) => faultSpec.parse({ kind: 'kill', node })

/** Services of nodes without a process: faults are listed, begin and end there. */
const services = {
  exclusively: (_: string, work: () => Promise<unknown>) => work(),
  service: () => {},
  servicesOf: () => [],
} as unknown as ServiceRunner

type Steps = {
  begin(spec: FaultSpec): Promise<void>
  isInForce(spec: FaultSpec): boolean
}

const kindsOf = (control: FaultRunner) =>
  control.active().map(({ spec }) => `${spec.kind} ${spec.node}`)

it('lists the faults in force, and heals one, those of a node, or all', async ({ createWorld }) => {
  const { control, done } = createWorld()
  const first = await control.apply(lie('sv-1'), null)
  await control.apply(kill('sv-1'), null)
  await control.apply(kill('sv-2'), null)
  expect(kindsOf(control)).toEqual(['lie sv-1', 'kill sv-1', 'kill sv-2'])
  await control.heal({ id: first.id })
  expect(kindsOf(control)).toEqual(['kill sv-1', 'kill sv-2'])
  await control.heal({ node: 'sv-1' })
  expect(kindsOf(control)).toEqual(['kill sv-2'])
  await control.heal({})
  expect(kindsOf(control)).toEqual([])
  expect(done.slice(3)).toEqual(['-lie sv-1', '-kill sv-1', '-kill sv-2'])
  await expect(control.heal({ id: first.id })).rejects.toThrow(CommandError)
})

it('replaces a fault in the same slot', async ({ createWorld }) => {
  const { control } = createWorld()
  await control.apply(lie('sv-1', 'deny'), null)
  await control.apply(lie('sv-1', 'garbage'), null)
  await control.apply(lie('sv-2'), null)
  expect(processFaultsOf('sv-1', control.specsOf('sv-1')).lie).toBe('garbage')
  expect(control.active()).toHaveLength(2)
})

it('sends each side of a split the peers that it cannot reach, and no other node', async ({
  createWorld,
}) => {
  const { control } = createWorld()
  const split = faultSpec.parse({ kind: 'split', node: 'sv-1', others: ['sv-3', 'sv-4'] })
  await control.apply(split, null)
  const cut = ['sv-1', 'sv-2', 'sv-3', 'sv-4'].map(
    (node) => processFaultsOf(node, control.specsOf(node)).cutPeers,
  )
  expect(cut).toEqual([['sv-3', 'sv-4'], [], ['sv-1'], ['sv-1']])
})

it('sends only the writer of the log that its disk is full', async ({ createWorld }) => {
  const { control } = createWorld()
  await control.apply(faultSpec.parse({ kind: 'disk', node: 'synchronizer' }), null)
  const full = ['synchronizer', 'sv-1'].map(
    (node) => processFaultsOf(node, control.specsOf(node)).isDiskFull,
  )
  expect(full).toEqual([true, false])
})

it('a fault ends after its duration, unless it was healed before', async ({ createWorld }) => {
  const { clock, control, done } = createWorld()
  await control.apply(lie('sv-1'), 1000)
  const replaced = await control.apply(kill('sv-2'), 1000)
  await control.heal({ id: replaced.id })
  await control.apply(kill('sv-2'), null)
  await clock.advance(999)
  expect(kindsOf(control)).toEqual(['lie sv-1', 'kill sv-2'])
  await clock.advance(1)
  expect(kindsOf(control)).toEqual(['kill sv-2'])
  expect(done.at(-1)).toBe('-lie sv-1')
})

it('keeps the time of a fault whose replacement could not begin', async ({ createWorld }) => {
  const world = createWorld({
    begin: async () => {
      if (isRedisKilled) throw new CommandError('sv-2.redis does not run')
    },
  })
  let isRedisKilled = false
  const fill = faultSpec.parse({ kind: 'memory', node: 'sv-2' })
  const first = await world.control.apply(fill, 30_000)
  isRedisKilled = true
  await world.clock.advance(10_000)
  await expect(world.control.apply(fill, null)).rejects.toThrow('does not run')
  expect(world.control.active()).toEqual([first])
  await world.clock.advance(19_999)
  expect(world.control.active()).toEqual([first])
  await world.clock.advance(1)
  expect(world.control.active()).toEqual([])
  expect(world.done.at(-1)).toBe('-memory sv-2')
})

it('ends a fault whose time is over while its replacement fails to begin', async ({
  createWorld,
}) => {
  let fail = () => {}
  const hung = new Promise<void>((_, reject) => {
    fail = () => reject(new CommandError('no'))
  })
  let begin = async () => {}
  const { clock, control } = createWorld({ begin: () => begin() })
  await control.apply(lie('sv-1'), 1000)
  begin = () => hung
  const second = control.apply(lie('sv-1'), null)
  await clock.advance(2000)
  fail()
  await expect(second).rejects.toThrow('no')
  await clock.advance(0)
  expect(control.active()).toEqual([])
})

it('does not restore a fault that was healed while its replacement failed to begin', async ({
  createWorld,
}) => {
  let fail = () => {}
  let begin = async () => {}
  const { control } = createWorld({ begin: () => begin() })
  await control.apply(lie('sv-1'), null)
  begin = () =>
    new Promise((_, reject) => {
      fail = () => reject(new CommandError('no'))
    })
  const second = control.apply(lie('sv-1'), null)
  await control.heal({})
  fail()
  await expect(second).rejects.toThrow('no')
  expect(control.active()).toEqual([])
})

it('heals a split when either side is healed', async ({ createWorld }) => {
  const { control, done } = createWorld()
  const split = faultSpec.parse({ kind: 'split', node: 'sv-1', others: ['sv-3'] })
  await control.apply(split, null)
  expect(await control.heal({ node: 'sv-2' })).toEqual([])
  expect((await control.heal({ node: 'sv-3' })).map(({ spec }) => spec)).toEqual([split])
  expect(done.at(-1)).toBe('-split sv-1')
})

it('does not list a fault that could not begin', async ({ createWorld }) => {
  const { control } = createWorld({ begin: () => Promise.reject(new CommandError('no')) })
  await expect(control.apply(lie('sv-1'), 10)).rejects.toThrow('no')
  expect(control.active()).toEqual([])
})

it('the next control plane takes over a fault for the rest of its duration', async ({
  createWorld,
}) => {
  const { clock, control, create, done } = createWorld({
    isInForce: (spec) => spec.kind !== 'kill',
  })
  await control.apply(lie('sv-1'), 1000)
  await control.apply(kill('sv-2'), null)
  control.close()
  await clock.advance(600)
  const next = create()
  next.restore()
  expect(kindsOf(next)).toEqual(['lie sv-1'])
  await clock.advance(400)
  expect(kindsOf(next)).toEqual([])
  expect(done.at(-1)).toBe('-lie sv-1')
  expect((await next.apply(lie('sv-3'), null)).id).toBe('fault-3')
})
