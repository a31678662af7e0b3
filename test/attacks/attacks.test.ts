/**
 * Attacks, one after the other, on one cluster of real processes for each kind of ordering, or on one of their own.
 * They run only in `npm run test:long`. `npm test` shows what each attack needs at a lower level (SECURITY.md).
 */
import type { RunningCluster } from 'quorumscan/testing'
import { requireEngine } from 'quorumscan/testing/engine'
import { afterAll, beforeAll, describe, expect, it, type TestContext } from 'vitest'
import { ATTACKS } from './all.ts'
import { type Attack, startAttacked, type Verdict } from './attack.ts'

/** The figures of an attack are recorded in test/long.json. */
declare module 'vitest' {
  interface TaskMeta {
    figures?: Verdict['figures']
  }
}

it('attacks have unique names', () => {
  expect(new Set(ATTACKS.map(({ name }) => name)).size).toBe(ATTACKS.length)
})

const SHARED = ATTACKS.filter(({ needsOwnCluster }) => needsOwnCluster !== true)
const PARTS = [
  ['attacks', 'redis'],
  ['attacks-sources', 'redis'],
  ['attacks-cometbft', 'cometbft'],
] as const
const partOf = ({ ordering, part }: Attack) =>
  part ?? (ordering === 'cometbft' ? 'attacks-cometbft' : 'attacks')

for (const [part, ordering] of PARTS)
  describe(`${part}, ordered by ${ordering}`, () => {
    let cluster: RunningCluster
    beforeAll(async () => {
      if (ordering === 'cometbft') requireEngine()
      cluster = await startAttacked(ordering)
    })
    afterAll(() => cluster?.down())

    for (const attack of SHARED.filter((one) => partOf(one) === part)) {
      it(attack.name, { tags: ['long', part] }, (context) =>
        expectHolds(attack, { cluster, context }),
      )
    }
  })

describe('on a cluster of its own', () => {
  for (const attack of ATTACKS.filter((one) => !SHARED.includes(one)))
    it(attack.name, { tags: ['long', attack.name] }, async (context) => {
      await using cluster = await startAttacked(attack.ordering ?? 'redis', attack)
      await expectHolds(attack, { cluster, context })
    })
})

async function expectHolds(
  { name, claim, run }: Attack,
  { cluster, context }: { readonly cluster: RunningCluster; readonly context: TestContext },
): Promise<void> {
  const { holds, figures } = await run({ cluster })
  process.stdout.write(`${name}: ${JSON.stringify(figures)}\n`)
  expect(holds, `${claim}\n${JSON.stringify(figures, null, 2)}`).toBe(true)
  context.task.meta.figures = figures
}
