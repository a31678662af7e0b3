/** Chaos runs of 20 s against real processes, judged by the independent checker. */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { startCluster } from '../support/clusters.ts'

const SECOND = 1_000_000
/** Rules that a run of 20 s exercises only by chance. All other rules must have samples. */
const EXERCISED_BY_CHANCE = [
  'lies are seen',
  'equivocation is detected',
  'an accepted transfer stays accepted',
]

/** Runs until every other rule has samples. */
const RUNS_MAX = 4

it('chaos runs within the fault budget have the verdict valid, and exercise every rule', async () => {
  await using cluster = await startCluster({
    nodes: 4,
    genesisOverrides: {
      names: { entryLifetimeMicros: 12 * SECOND, renewalDurationMicros: 10 * SECOND },
    },
  })
  const seed = process.env['SEED'] ?? 'ci'
  const samplesOf = new Map<string, number>()
  let runs = 0
  const unexercised = () =>
    [...samplesOf].flatMap(([rule, samples]) =>
      samples > 0 || EXERCISED_BY_CHANCE.includes(rule) ? [] : [rule],
    )
  // One run is enough, unless the machine is too slow for a renewal or a transfer in 20 s.
  do {
    const ofRun = runs === 0 ? seed : `${seed}-${runs}`
    // The expectation below lists the rules that must be exercised.
    const run = await cluster.chaos({ seed: ofRun, durationMs: 20_000, allowsUnexercised: true })
    expect(run.verdict, `seed ${ofRun}: ${run.sentence}`).toBe('valid')
    const report = JSON.parse(await readFile(join(run.directory, 'report.json'), 'utf8'))
    const rules: { rule: string; samples: number }[] = report.verdict.rules
    expect(rules.map(({ rule }) => rule)).toEqual(expect.arrayContaining(EXERCISED_BY_CHANCE))
    for (const { rule, samples } of rules) samplesOf.set(rule, samples + (samplesOf.get(rule) ?? 0))
    const history = await readFile(join(run.directory, 'history.jsonl'), 'utf8')
    for (const kind of ['lookup', 'probe', 'write', 'fault', 'signed-state'])
      expect(history, `the run has ${kind}s`).toContain(`{"kind":"${kind}"`)
    expect(await readFile(join(run.directory, 'report.html'), 'utf8')).toContain(
      'wrong answers served: 0',
    )
    runs++
  } while (unexercised().length > 0 && runs < RUNS_MAX)
  expect(unexercised(), `seed ${seed}: rules without a sample in ${runs} runs`).toEqual([])
})
