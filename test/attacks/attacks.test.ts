/**
 * Attacks, one after the other, on one cluster of real processes. With LONG=1, those that need a quiet machine run, too,
 * and those on the engines of members that order together. The limits are the same.
 */
import type { RunningCluster } from 'quorumscan/testing'
import { enginePath } from 'quorumscan/testing/engine'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startCluster } from '../support/clusters.ts'
import { ATTACKS } from './all.ts'
import { NETWORK_RULES } from './network.ts'

const isLong = process.env['LONG'] === '1'

it('attacks have unique names', () => {
  expect(new Set(ATTACKS.map(({ name }) => name)).size).toBe(ATTACKS.length)
})

for (const ordering of ['redis', 'cometbft'] as const)
  describe.runIf(ordering === 'redis' || (isLong && enginePath !== null))(
    `ordered by ${ordering}`,
    () => {
      let cluster: RunningCluster
      beforeAll(async () => {
        cluster = await startCluster({ nodes: 4, ordering, genesisOverrides: NETWORK_RULES })
      })
      afterAll(() => cluster?.down())

      for (const attack of ATTACKS.filter((one) => (one.ordering ?? 'redis') === ordering)) {
        const isSkipped = attack.needsQuietMachine === true && !isLong
        it.skipIf(isSkipped)(
          isSkipped
            ? `${attack.name}: needs a quiet machine, so only in npm run test:long`
            : attack.name,
          { tags: isLong ? ['long-run'] : [] },
          async () => {
            const { holds, figures } = await attack.run({ cluster, isLong })
            process.stdout.write(`${attack.name}: ${JSON.stringify(figures)}\n`)
            expect(holds, `${attack.claim}\n${JSON.stringify(figures, null, 2)}`).toBe(true)
          },
        )
      }
    },
  )
