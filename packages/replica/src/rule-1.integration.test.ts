import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { outcomeOf } from '@quorumscan/ledger/testing'
import { cases, required } from '@quorumscan/testkit'
import { bundleProgram } from '@quorumscan/testkit/bundle-program'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { naiveStates } from './testing/naive-state.ts'
import { growRandomLog } from './testing/random-log.ts'
import { hashesOf, replay, replayDigest } from './testing/replay.ts'

const scenario = growRandomLog('one log', 300)
/** Replays a log in a process of its own, whose environment decides the locale. */
const PRINT_DIGEST = `
import { replayDigest } from './testing/replay.ts'
process.stdout.write(await replayDigest(JSON.parse(process.argv[2])))
`

describe('the same log gives the same state (Rule 1)', () => {
  it('the log of this test has all kinds of entries and outcomes', () => {
    const outcomes = new Set(scenario.ledger.results().map(outcomeOf))
    const choices = new Set(
      scenario.ledger
        .results()
        .flatMap((result) =>
          result.kind !== 'accepted'
            ? []
            : result.update.events.flatMap((event) =>
                event.kind === 'exercised' ? [event.choice] : [],
              ),
        ),
    )
    for (const outcome of [
      'accepted',
      'ignored: malformed',
      'ignored: seen before',
      'NAME_TAKEN',
      'LIMIT_EXCEEDED',
    ])
      expect(outcomes).toContain(outcome)
    for (const choice of [
      'AnsRules_CollectInitialEntryPayment',
      'AnsRules_RejectEntryInitialPayment',
      'AnsEntry_Renew',
      'DsoRules_ExpireAnsEntry',
      'DsoRules_AdvanceOpenMiningRounds',
      'DsoRules_SetScanUrl',
    ])
      expect(choices).toContain(choice)
  })

  it('however it is cut into batches, and whenever replica and Redis are killed', {
    tags: ['replicas'],
  }, async () => {
    const hashes = hashesOf(scenario)
    const states = naiveStates(scenario)
    const expected = new Map(states.map(({ offset, root }) => [offset, root]))
    const { dump, roots } = await replay(scenario, { seed: 'one piece', faults: false })
    expect(roots).toEqual(expected)
    await fc.assert(
      fc.asyncProperty(fc.string(), async (seed) => {
        const replayed = await replay(scenario, { seed, faults: true })
        expect(replayed.hashes).toEqual(hashes)
        expect(replayed.dump).toEqual(dump)
        // The root of each write is reported, unless the process ends before that.
        for (const [offset, root] of replayed.roots) expect(root).toBe(expected.get(offset))
        expect(replayed.roots.size).toBeGreaterThan(expected.size / 2)
      }),
      { numRuns: cases(2, 8) },
    )
  })

  // `npm run test:nodes` runs this under one version of Node, with OTHER_NODE for another.
  it('under every locale and Node', async () => {
    required('redis') // The child processes need it, too.
    const node = process.env['OTHER_NODE'] ?? process.execPath
    using program = await bundleProgram(PRINT_DIGEST, import.meta.dirname)
    const input = { log: 'locale', steps: 80, seed: 'cuts' }
    const digests = ['C', 'en_US.UTF-8'].map(async (locale) => {
      const args = [program.file, JSON.stringify(input)]
      const env = { ...process.env, LC_ALL: locale, LANG: locale }
      return (await promisify(execFile)(node, args, { env })).stdout
    })
    const digest = await replayDigest(input)
    expect(await Promise.all(digests)).toEqual([digest, digest])
  })
})
