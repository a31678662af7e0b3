/**
 * Runs attacks on a new cluster and prints their figures. Exits with status 1 if a claim does not hold.
 *
 *   node test/dist/attacks/main.js           all attacks, in full
 *   node test/dist/attacks/main.js NAME …    only these
 */

import { startCluster } from '../support/clusters.ts'
import { ATTACKS } from './all.ts'
import { NETWORK_RULES } from './network.ts'

const names = process.argv.slice(2)
const unknown = names.find((name) => !ATTACKS.some((attack) => attack.name === name))
if (unknown !== undefined)
  throw new Error(
    `unknown attack ${unknown}; attacks are ${ATTACKS.map(({ name }) => name).join(', ')}`,
  )

for (const ordering of ['redis', 'cometbft'] as const) {
  const attacks = ATTACKS.filter(
    (attack) =>
      (attack.ordering ?? 'redis') === ordering &&
      (names.length === 0 || names.includes(attack.name)),
  )
  if (attacks.length === 0) continue
  await using cluster = await startCluster({ nodes: 4, ordering, genesisOverrides: NETWORK_RULES })
  for (const attack of attacks) {
    const { holds, figures } = await attack.run({ cluster, isLong: true })
    process.stdout.write(`${holds ? 'holds ' : 'BROKEN'}  ${attack.name}\n`)
    for (const [what, figure] of Object.entries(figures))
      process.stdout.write(`          ${what}: ${figure}\n`)
    if (!holds) process.exitCode = 1
  }
}
