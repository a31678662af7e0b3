/** Every attack on one cluster of real processes, one after the other; in full with LONG=1. */
import type { RunningCluster } from 'quorumscan/testing'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { startCluster } from '../support/clusters.ts'
import { ATTACKS } from './all.ts'

const isLong = process.env['LONG'] === '1'

let cluster: RunningCluster
beforeAll(async () => {
  cluster = await startCluster({ nodes: 4 })
})
afterAll(() => cluster?.down())

it('have names of their own', () => {
  expect(new Set(ATTACKS.map(({ name }) => name)).size).toBe(ATTACKS.length)
})

it.each(ATTACKS.map((attack) => [attack.name, attack] as const))(
  '%s',
  { tags: isLong ? ['long-run'] : [] },
  async (_, attack) => {
    const { holds, figures } = await attack.run({ cluster, isLong })
    process.stdout.write(`${attack.name}: ${JSON.stringify(figures)}\n`)
    expect(holds, `${attack.claim}\n${JSON.stringify(figures, null, 2)}`).toBe(true)
  },
)
