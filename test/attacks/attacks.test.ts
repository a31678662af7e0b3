/**
 * Attacks, one after the other, on one cluster of real processes for each kind of ordering. Those that need a quiet
 * machine or CometBFT run only in `npm run test:long`. The limits are the same.
 */
import { isLong } from '@quorumscan/testkit'
import type { RunningCluster } from 'quorumscan/testing'
import { enginePath } from 'quorumscan/testing/engine'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startCluster } from '../support/clusters.ts'
import { ATTACKS } from './all.ts'
import type { Attack, Verdict } from './attack.ts'
import { NETWORK_RULES } from './network.ts'

/** The figures of an attack are recorded in test/long.json. */
declare module 'vitest' {
  interface TaskMeta {
    figures?: Verdict['figures']
  }
}

it('attacks have unique names', () => {
  expect(new Set(ATTACKS.map(({ name }) => name)).size).toBe(ATTACKS.length)
})

for (const ordering of ['redis', 'cometbft'] as const)
  describe.skipIf(ordering === 'cometbft' && enginePath === null)(`ordered by ${ordering}`, () => {
    let cluster: RunningCluster
    beforeAll(async () => {
      cluster = await startCluster({ nodes: 4, ordering, genesisOverrides: NETWORK_RULES })
    })
    afterAll(() => cluster?.down())

    for (const attack of ATTACKS.filter((one) => (one.ordering ?? 'redis') === ordering)) {
      it(attack.name, { tags: tagsOf(attack) }, async ({ task }) => {
        const { holds, figures } = await attack.run({ cluster, isLong })
        process.stdout.write(`${attack.name}: ${JSON.stringify(figures)}\n`)
        expect(holds, `${attack.claim}\n${JSON.stringify(figures, null, 2)}`).toBe(true)
        task.meta.figures = figures
      })
    }
  })

/** The part of `npm run test:long` that runs it in full, and whether only this part runs it. */
function tagsOf({ ordering, needsQuietMachine }: Attack): string[] {
  if (ordering === 'cometbft') return ['long', 'attacks-cometbft']
  return needsQuietMachine ? ['long', 'attacks-quiet'] : ['attacks']
}
