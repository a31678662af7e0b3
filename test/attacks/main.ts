/**
 * Runs attacks by hand on a cluster of their own and says what they found; ends with 1 if one got through.
 *
 *   node test/dist/attacks/main.js           all of them, in full
 *   node test/dist/attacks/main.js NAME …    only these
 */

import { startCluster } from '../support/clusters.ts'
import { ATTACKS } from './all.ts'

const names = process.argv.slice(2)
const unknown = names.find((name) => !ATTACKS.some((attack) => attack.name === name))
if (unknown !== undefined)
  throw new Error(
    `There is no attack named ${unknown}; there are: ${ATTACKS.map(({ name }) => name).join(', ')}.`,
  )

await using cluster = await startCluster({ nodes: 4 })
for (const attack of ATTACKS.filter(({ name }) => names.length === 0 || names.includes(name))) {
  const { holds, figures } = await attack.run({ cluster, isLong: true })
  process.stdout.write(`${holds ? 'holds ' : 'BROKEN'}  ${attack.name}\n`)
  for (const [what, figure] of Object.entries(figures))
    process.stdout.write(`          ${what}: ${figure}\n`)
  if (!holds) process.exitCode = 1
}
