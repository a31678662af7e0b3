/**
 * What `run` prints on a network of operators: one format, no error in a normal start and stop, and one line a minute about
 * a member that is down.
 *
 * @module-tag rest
 */
import { readFileSync } from 'node:fs'
import { parseTime } from '@quorumscan/model'
import { until } from '@quorumscan/testkit'
import { requireEngine } from 'quorumscan/testing/engine'
import { expect, it } from 'vitest'
import {
  createNetwork,
  type Operator,
  outputOf,
  run,
  stop,
  untilReady,
} from '../support/operators.ts'

type Line = {
  readonly level: string
  readonly time: string
  readonly name: string
  readonly msg: string
  readonly err?: { readonly stack?: string }
}

/** All that it has printed. Another format than JSON fails the test. */
function linesOf({ logFile }: Operator): Line[] {
  return readFileSync(logFile, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line))
}

it('prints one format, in a normal start and stop and while a member is down', {
  tags: ['rest'],
}, async () => {
  requireEngine()
  const variables = { QS_LOG_LEVEL: 'info' }
  await using network = await createNetwork({ ordering: 'cometbft', svCount: 4, variables })
  const { all, svs } = network
  const [witness, , , gone] = svs as [Operator, Operator, Operator, Operator]
  for (const one of all) run(one)
  await Promise.all(all.map(untilReady))
  await stop(gone)
  const about = () =>
    linesOf(witness).filter(({ msg }) => msg.includes('engine: Error dialing peer'))
  // Those of its start may be about others.
  const dials = await until(
    'two lines about the member that is down',
    () => {
      const lines = about().filter((line) => JSON.stringify(line).includes(gone.machine.address))
      return lines.length >= 2 ? lines : undefined
    },
    { timeoutMs: 300_000 },
  )
  const at = (text = '') => parseTime(text) ?? Number.NaN
  for (const [index, { time }] of dials.slice(1).entries())
    expect(at(time) - at(dials[index]?.time)).toBeGreaterThan(59_000_000)
  for (const one of all) expect(await stop(one)).toBe(one === gone ? null : 0)
  const processes = new Set<string>()
  for (const one of all)
    for (const line of linesOf(one)) {
      expect(line.time).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
      expect(line.level, JSON.stringify(line)).toMatch(/^(?:info|warn)$/)
      expect(line.msg).not.toContain(`http://${one.machine.address}`)
      expect(line.err?.stack, JSON.stringify(line)).toBeUndefined()
      processes.add(line.name)
    }
  for (const name of ['sv-1.run', 'sv-1.redis', 'sv-1', 'synchronizer', 'validator'])
    expect(processes).toContain(name)
  expect(outputOf(witness)).toContain(`accepts connections at https://${witness.machine.address}`)
})
