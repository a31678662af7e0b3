import type { Service } from '@quorumscan/supervisor'
import { expect, it } from 'vitest'
import type { z } from 'zod'
import { EFFECTS, type EffectsOf, effectOf } from './effects.ts'
import { FAULTS, type FaultData, type FaultInput, faultSpec } from './fault-spec.ts'

it('does not compile with a kind that is incomplete', () => {
  const { disk: _disk, ...withoutDisk } = EFFECTS
  // @ts-expect-error A kind of `FAULTS` has no effect.
  const missing: EffectsOf<typeof FAULTS> = withoutDisk
  type Quake = { readonly quake: FaultData<z.ZodObject<{ kind: z.ZodLiteral<'quake'> }>> }
  // @ts-expect-error A kind is added to `FAULTS` and not to `EFFECTS`.
  const added: EffectsOf<typeof FAULTS & Quake> = EFFECTS
  const { begin, ...withoutBegin } = EFFECTS.memory
  // @ts-expect-error An effect lacks a part.
  const partial: EffectsOf<typeof FAULTS> = { ...EFFECTS, memory: withoutBegin }
  // @ts-expect-error The effect of another kind.
  const other: EffectsOf<typeof FAULTS> = { ...EFFECTS, disk: EFFECTS.lie }
  const { words, ...withoutWords } = FAULTS.disk
  // @ts-expect-error The data of a kind lacks a part.
  const table: typeof FAULTS = { ...FAULTS, disk: withoutWords }
  expect([missing, added, partial, other, table, begin, words]).not.toContain(undefined)
})

it('has an effect for each kind of fault, in the same order, and names each by its kind', () => {
  expect(Object.keys(EFFECTS)).toEqual(Object.keys(FAULTS))
  expect(Object.values(FAULTS).map(({ schema }) => schema.shape.kind.value)).toEqual(
    Object.keys(FAULTS),
  )
})

const scan = { kind: 'scan', engineDirectory: null } as Service
const synchronizer = { kind: 'synchronizer', engineDirectory: null } as Service
const member = { kind: 'synchronizer', engineDirectory: '/engine' } as Service

it.each<readonly [FaultInput, readonly [Service, ...Service[]], string | null]>([
  [{ kind: 'disk', node: 'n' }, [scan], 'it writes no log'],
  [{ kind: 'disk', node: 'n' }, [scan, member], null],
  [{ kind: 'split', node: 'n', others: ['m'] }, [scan], 'it has no engine'],
  [{ kind: 'split', node: 'n', others: ['m'] }, [scan, member], null],
  [{ kind: 'slow', node: 'n', edge: 'p2p', latencyMs: 1 }, [synchronizer], 'it has no engine'],
  [{ kind: 'drop', node: 'n', edge: 'p2p' }, [scan, member], null],
  [{ kind: 'reset', node: 'n', edge: 'log' }, [synchronizer], 'does not apply'],
  [{ kind: 'reset', node: 'n', edge: 'redis' }, [synchronizer], 'does not apply'],
  [{ kind: 'reset', node: 'n' }, [synchronizer], null],
  [{ kind: 'partition', node: 'n' }, [synchronizer], 'does not apply'],
  [{ kind: 'partition', node: 'n' }, [scan], null],
  [{ kind: 'lie', node: 'n' }, [synchronizer], 'only super-validators can lie'],
  [{ kind: 'lie', node: 'n' }, [scan, member], null],
  [{ kind: 'lie', node: 'n', to: '127.0.77.1' }, [scan], null],
  [{ kind: 'lie', node: 'n', lie: 'confirm', to: '::1' }, [scan], 'in the log'],
  [{ kind: 'flood', node: 'n' }, [scan], null],
  [{ kind: 'flood', node: 'n' }, [synchronizer], 'only super-validators can be flooded'],
  [{ kind: 'memory', node: 'n' }, [synchronizer], 'holds the only log'],
  [{ kind: 'memory', node: 'n' }, [member], 'has no Redis of its own'],
  [{ kind: 'memory', node: 'n' }, [scan, member], null],
])('refuses %j where it is invalid', (input, services, why) => {
  const spec = faultSpec.parse(input)
  const refusal = effectOf(spec).refusal?.(services, spec) ?? null
  if (why === null) expect(refusal).toBe(null)
  else expect(refusal).toContain(why)
})
