import { wrap } from '@quorumscan/cli'
import type { NodeState } from '@quorumscan/errors/node-words'
import { blockQuorumOf, maxFaulty, quorumOf } from '@quorumscan/verifier'
import { describe, expect, it } from 'vitest'
import { describeMargin, formatStatus, formatSummary } from '../commands/format.ts'
import type { AtNodes } from '../judge/watch/prober.ts'
import { marginsOf } from '../view/service-margins.ts'
import { missedBlockVotes, shorten } from '../view/words.ts'
import type { LiveStatus } from './status.ts'

function statusOf(states: readonly NodeState[]): LiveStatus {
  const n = states.length
  const service = {
    url: 'http://127.0.0.1:14611',
    pid: 1234567,
    redisPid: null,
    offset: 7,
    detail: null,
  }
  const nodes = states.map((state, index) => ({
    ...service,
    agreement: null,
    p50Ms: null,
    p99Ms: null,
    lastError: null,
    lag: 0,
    faults: [],
    isHealthy: state === 'up',
    health: null,
    isCounted: state === 'up',
    name: `sv-${index + 1}`,
    state,
    offset: 123_456_789,
    recordTime: null,
    detail: state === 'down' ? 'its Redis is down, and so is whatever else needs many words' : null,
  }))
  return {
    cluster: {
      n,
      f: maxFaulty(n),
      readThreshold: maxFaulty(n) + 1,
      confirmThreshold: quorumOf(n),
      blockThreshold: blockQuorumOf(n),
      genesisHash: 'ab'.repeat(32),
      ordering: 'redis',
    },
    nodes,
    validator: { ...service, state: 'up' },
    synchronizer: { ...service, state: 'up' },
    members: [],
    faults: [],
    atNodes: null,
    console: null,
    dataDir: '/home/alice/quorumscan/.quorumscan',
  }
}

const up = 'up' as const
const down = 'down' as const

it('compares the number of ordering members with the number that a block needs', () => {
  const together = (
    states: readonly NodeState[],
    status = statusOf(['up', 'up', 'up', 'up']),
  ): LiveStatus => ({
    ...status,
    members: status.nodes.map((node, index) => {
      const report = { height: 40 + index, round: 1, connected: ['sv-2'], absent: ['sv-3'] }
      const state = states[index] ?? 'up'
      return { ...node, state, detail: null, ordering: state === 'up' ? report : null }
    }),
  })
  const one = together(['up', 'up', 'down'])
  expect(describeMargin(one)).toContain(
    'ordering       no further failure tolerated (3 of 4 members up, 3 must vote)',
  )
  expect(marginsOf(one).lookups.works).toBe(true)
  expect(formatStatus(one)).toContain('\nsv-3          down         -        -        -')
  expect(formatStatus(one)).toContain('\nsv-4          up           43       1        1 of 3')
  expect(missedBlockVotes(one)).toEqual(['sv-3'])

  // Six members need one more for a block than for an operator action.
  const six = together([], statusOf(['up', 'up', 'up', 'up', 'up', 'up']))
  expect(describeMargin(six)).toContain(
    'ordering       failures tolerated: 1 (6 of 6 members up, 5 must vote)',
  )

  const two = together(['down', 'up', 'down'])
  expect(describeMargin(two)).toEqual([
    'lookups        ordering is stalled (4 of 4 nodes up, 2 must agree)',
    'registrations  stopped: ordering is stalled (4 of 4 nodes up, 3 must confirm)',
    'ordering       quorum lost (2 of 4 members up, 3 must vote)',
  ])
  expect(marginsOf(two).lookups.works).toBe(false)
})

describe('the failures that are tolerated', () => {
  it.each([
    { states: [up, up, up, up], lookups: 'tolerated: 2', registrations: 'tolerated: 1' },
    { states: [up, up, up, down], lookups: 'tolerated: 1', registrations: 'no further failure' },
    {
      states: [up, up, down, 'paused'],
      lookups: 'no further failure',
      registrations: 'quorum lost',
    },
    { states: [up, down, down, down], lookups: 'too few nodes', registrations: 'quorum lost' },
    {
      states: [up, up, up, 'catching-up'],
      lookups: 'tolerated: 1',
      registrations: 'no further failure',
    },
    { states: [up], lookups: 'no further failure', registrations: 'no further failure' },
  ] as const)('of $states: $lookups, $registrations', ({ states, lookups, registrations }) => {
    const [lookupLine, registrationLine] = describeMargin(statusOf(states))
    expect(lookupLine).toContain(lookups)
    expect(registrationLine).toContain(registrations)
  })

  it('do not count a node that is known to lie', () => {
    const status = statusOf([up, up, up, down])
    const nodes = status.nodes.map((node, index) => ({ ...node, isCounted: index < 2 }))
    expect(describeMargin({ ...status, nodes })[0]).toBe(
      'lookups        no further failure tolerated (3 of 4 nodes up, 1 faulty, 2 must agree)',
    )
  })
})

describe('whether names can be looked up', () => {
  const read: AtNodes = {
    kind: 'verified',
    latencyMs: 3.4,
    needed: 2,
    signers: ['sv-1', 'sv-2', 'sv-3'],
    asked: [{ node: 'sv-1', url: '', isProven: true, reason: 'answered' }],
  }
  const refused: AtNodes = {
    ...read,
    kind: 'insufficient',
    signers: [],
    asked: ['sv-1', 'sv-2'].map((node) => {
      return { node, url: '', isProven: false, reason: 'timeout (1000 ms)' }
    }),
  }

  it('depends on the reader of the nodes, whatever the validator does', () => {
    const status = { ...statusOf([up, up, up, up]), atNodes: read }
    const lost = { ...status, validator: { ...status.validator, state: down } }
    expect(marginsOf(lost).lookups.works).toBe(true)
    expect(describeMargin(lost)).toContain(
      '               a reader of the nodes: verified, 3 signed, 2 needed, 3 ms',
    )
    expect(describeMargin(lost)).toContain(
      'registrations  stopped: the validator is not up (4 of 4 nodes up, 3 must confirm)',
    )
    expect(
      formatStatus(lost)
        .split('\n')
        .every((line) => line.length <= 80),
    ).toBe(true)
  })

  it('does not follow from the number of nodes where the reader gets an answer', () => {
    const status = { ...statusOf([up, down, down, down]), atNodes: read }
    expect(marginsOf(status).lookups).toMatchObject({
      works: true,
      tone: 'bad',
      verdict: 'too few nodes, answered only by proofs',
    })
  })

  it('is denied where the reader gets no answer, with the reason of each node', () => {
    const status = { ...statusOf([up, up, up, up]), atNodes: refused }
    expect(marginsOf(status).lookups.works).toBe(false)
    expect(formatStatus(status)).toContain('insufficient (sv-1: timeout (1000 ms),')
    expect(describeMargin(status)[0]).toContain('not answered')
  })
})

describe('texts of the command line', () => {
  it('fit 80 columns', () => {
    for (const n of [1, 4, 13]) {
      const status = statusOf(Array.from({ length: n }, () => down))
      const text = `${formatStatus(status)}\n${formatSummary(status, 'http://127.0.0.1:14600')}`
      for (const line of text.split('\n')) expect(line.length, line).toBeLessThanOrEqual(80)
    }
  })

  it('say that no fault is tolerated below four nodes, and only there', () => {
    expect(formatSummary(statusOf([up, up, up]), '')).toContain('no fault is tolerated')
    expect(formatSummary(statusOf([up, up, up, up]), '')).toContain(
      'n = 4, f = 1: an answer needs 2, an operator action 3',
    )
    expect(formatSummary(statusOf([up, up, up, up]), '')).not.toContain('no fault is tolerated')
  })

  it('break between words and lose no word', () => {
    const text = 'word '.repeat(50).trim()
    expect(wrap(text).join(' ')).toBe(text)
    expect(shorten('a'.repeat(100), 20)).toHaveLength(20)
    expect(shorten('short', 20)).toBe('short')
  })
})
