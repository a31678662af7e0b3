/** A chaos run of 20 s against real processes, judged by the independent checker. */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { startCluster } from '../support/clusters.ts'

const SECOND = 1_000_000
/** Rules that a run of 20 s exercises only by chance. All other rules must have samples. */
const EXERCISED_BY_CHANCE = [
  'lies are seen',
  'equivocation is caught',
  'an accepted transfer stays accepted',
]

it('a chaos run within the fault budget has the verdict valid', async () => {
  await using cluster = await startCluster({
    nodes: 4,
    genesisOverrides: {
      names: { entryLifetimeMicros: 12 * SECOND, renewalDurationMicros: 10 * SECOND },
    },
  })
  const seed = process.env['SEED'] ?? 'ci'
  // The expectation below lists the rules that must be exercised.
  const run = await cluster.chaos({ seed, durationMs: 20_000, allowsUnexercised: true })
  expect(run.verdict, `seed ${seed}: ${run.sentence}`).toBe('valid')
  const report = JSON.parse(await readFile(join(run.directory, 'report.json'), 'utf8'))
  const rules: { rule: string; samples: number }[] = report.verdict.rules
  expect(rules.map(({ rule }) => rule)).toEqual(expect.arrayContaining(EXERCISED_BY_CHANCE))
  const unexercised = rules.filter(
    ({ rule, samples }) => samples === 0 && !EXERCISED_BY_CHANCE.includes(rule),
  )
  expect(unexercised, `seed ${seed}: untested rules`).toEqual([])
  const history = await readFile(join(run.directory, 'history.jsonl'), 'utf8')
  for (const kind of ['lookup', 'probe', 'write', 'fault', 'signed-state'])
    expect(history, `the run has ${kind}s`).toContain(`{"kind":"${kind}"`)
  expect(await readFile(join(run.directory, 'report.html'), 'utf8')).toContain(
    'wrong answers served: 0',
  )
})
