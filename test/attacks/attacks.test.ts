/** Every attack on one cluster of real processes for each way to order, one after the other; in full with LONG=1. */
import type { RunningCluster } from 'quorumscan/testing'
import { enginePath } from 'quorumscan/testing/engine'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startCluster } from '../support/clusters.ts'
import { ATTACKS } from './all.ts'

const isLong = process.env['LONG'] === '1'

it('have names of their own', () => {
  expect(new Set(ATTACKS.map(({ name }) => name)).size).toBe(ATTACKS.length)
})

for (const ordering of ['redis', 'cometbft'] as const)
  describe.skipIf(ordering === 'cometbft' && enginePath === null)(`ordered by ${ordering}`, () => {
    let cluster: RunningCluster
    beforeAll(async () => {
      cluster = await startCluster({ nodes: 4, ordering })
    })
    afterAll(() => cluster?.down())

    const attacks = ATTACKS.filter((attack) => (attack.ordering ?? 'redis') === ordering)
    it.each(attacks.map((attack) => [attack.name, attack] as const))(
      '%s',
      { tags: isLong ? ['long-run'] : [] },
      async (_, attack) => {
        const { holds, figures } = await attack.run({ cluster, isLong })
        process.stdout.write(`${attack.name}: ${JSON.stringify(figures)}\n`)
        expect(holds, `${attack.claim}\n${JSON.stringify(figures, null, 2)}`).toBe(true)
      },
    )
  })
