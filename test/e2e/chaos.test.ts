/** Twenty seconds of chaos against real processes, judged by the independent checker. */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { startCluster } from '../support/clusters.ts'

const SECOND = 1_000_000

it('a run within the budget is valid', async () => {
  await using cluster = await startCluster({
    nodes: 4,
    genesisOverrides: {
      names: { entryLifetimeMicros: 30 * SECOND, renewalDurationMicros: 25 * SECOND },
    },
  })
  const seed = process.env['SEED'] ?? 'ci'
  // Too short for each rule to be put to the test.
  const run = await cluster.chaos({ seed, durationMs: 20_000, allowsUnexercised: true })
  expect(run.verdict, `seed ${seed}: ${run.sentence}`).toBe('valid')
  const history = await readFile(join(run.directory, 'history.jsonl'), 'utf8')
  for (const kind of ['lookup', 'probe', 'write', 'fault', 'signed-state'])
    expect(history, `the run has ${kind}s`).toContain(`{"kind":"${kind}"`)
  expect(await readFile(join(run.directory, 'report.html'), 'utf8')).toContain(
    'wrong answers served: 0',
  )
})
