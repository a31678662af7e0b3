/** The state of runs, with a cluster that refuses every request. */
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createSystemClock } from '@quorumscan/base'
import { createDirectory, createTestNetwork, until } from '@quorumscan/testkit'
import { expect, it } from 'vitest'
import { type ChaosRuns, createChaosRuns, scenarioOf } from './runs.ts'
import type { ChaosTarget } from './target.ts'

const clock = createSystemClock()
const { genesis } = createTestNetwork({ nodeCount: 4 })
const nodeNames = genesis.nodes.map(({ name }) => name)
const scenario = scenarioOf({
  seed: '7',
  durationMs: 1000,
  nodeNames,
  budget: 'f',
  allowsUnexercised: false,
  ordering: 'redis',
})

const nothing = () => Promise.reject(new Error('no cluster here'))
const absent: ChaosTarget = {
  validatorUrl: 'http://127.0.0.1:1',
  token: nothing,
  status: () => {
    throw new Error('no cluster here')
  },
  inject: nothing,
  heal: nothing,
  wipe: nothing,
  readLog: nothing,
  signedStates: nothing,
  evidence: nothing,
}

const untilDone = (runs: ChaosRuns, id: string) =>
  until('the end of the run', () => (runs.get(id).state === 'running' ? undefined : runs.get(id)))

it('a run without a verdict is inconclusive, has a report, and is listed after a restart', async () => {
  using temporary = createDirectory()
  const { path: directory } = temporary
  const create = () => createChaosRuns({ target: absent, genesis, directory, clock })
  const runs = create()
  const { id } = runs.start(scenario)
  expect(() => runs.start(scenario)).toThrow(`the chaos run ${id} is running`)
  expect(() => runs.report(id)).toThrow('it has no report')
  const run = await untilDone(runs, id)
  expect(run).toMatchObject({
    verdict: 'inconclusive',
    seed: '7',
    summary: { wrongAnswers: 0, decided: 0 },
  })

  // Another file there is not a run, and causes no failure.
  await writeFile(join(directory, 'notes.txt'), 'mine')
  const next = create()
  expect(next.list()).toEqual([run])
  expect(next.report(id)).toContain('wrong answers served: 0')
  const again = await untilDone(next, next.repeat(id).id)
  expect([again.seed, again.durationMs, again.budget]).toEqual(['7', 1000, 'f'])
  expect(next.list().map((one) => one.id)).toEqual([again.id, id])
  expect(() => next.get('other')).toThrow('chaos run other does not exist')
})

it('a scenario for another number of nodes is refused', () => {
  const runs = createChaosRuns({ target: absent, genesis, directory: '/nowhere', clock })
  expect(() => runs.start({ ...scenario, nodes: 7 })).toThrow('is for 7 nodes, the cluster has 4')
})
