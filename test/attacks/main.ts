/**
 * Runs attacks and prints their figures. Some have a new cluster each. Exits with status 1 if
 * a claim does not hold.
 *
 *   node test/dist/attacks/main.js           all attacks, in full
 *   node test/dist/attacks/main.js NAME …    only these
 */

import type { RunningCluster } from 'quorumscan/testing'
import { ATTACKS } from './all.ts'
import { type Attack, startAttacked } from './attack.ts'

const names = process.argv.slice(2)
const unknown = names.find((name) => !ATTACKS.some((attack) => attack.name === name))
if (unknown !== undefined)
  throw new Error(
    `unknown attack ${unknown}; attacks are ${ATTACKS.map(({ name }) => name).join(', ')}`,
  )

const chosen = ATTACKS.filter(({ name }) => names.length === 0 || names.includes(name))
for (const ordering of ['redis', 'cometbft'] as const) {
  const shared = chosen.filter(
    (attack) => !attack.needsOwnCluster && (attack.ordering ?? 'redis') === ordering,
  )
  if (shared.length === 0) continue
  await using cluster = await startAttacked(ordering)
  for (const attack of shared) await run(attack, cluster)
}
for (const attack of chosen.filter(({ needsOwnCluster }) => needsOwnCluster)) {
  await using cluster = await startAttacked(attack.ordering ?? 'redis', attack)
  await run(attack, cluster)
}

async function run(attack: Attack, cluster: RunningCluster): Promise<void> {
  const { holds, figures } = await attack.run({ cluster })
  process.stdout.write(`${holds ? 'holds ' : 'BROKEN'}  ${attack.name}\n`)
  for (const [what, figure] of Object.entries(figures))
    process.stdout.write(`          ${what}: ${figure}\n`)
  if (!holds) process.exitCode = 1
}
