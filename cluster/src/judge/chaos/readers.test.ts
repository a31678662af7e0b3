/** The rate of readers, and the outcomes of reads through the scan proxy. */

import type { NodeSignedState } from '@quorumscan/operator'
import type { HttpReply } from '@quorumscan/runtime'
import { createManualClock } from '@quorumscan/testkit'
import { expect, it } from 'vitest'
import { atFixedRate, outcomeOf, signedProblemOf } from './readers.ts'

/** Runs all pending callbacks. */
const settle = () => new Promise((resolve) => setImmediate(resolve))

it('begins an attempt at each tick, even if no earlier one has ended', async () => {
  const clock = createManualClock()
  const over = new AbortController()
  const begun: number[] = []
  const ends: (() => void)[] = []
  let isOver = false
  const reading = atFixedRate(
    (index) => {
      begun.push(index)
      return new Promise((resolve) => ends.push(resolve))
    },
    { everyMs: 100, clock, signal: over.signal },
  ).then(() => {
    isOver = true
  })
  await settle()
  await clock.advance(350)
  expect(begun).toEqual([0, 1, 2, 3])
  over.abort()
  await settle()
  expect(isOver).toBe(false)
  for (const end of ends) end()
  await reading
  expect(begun).toHaveLength(4)
})

const asked = (more: Partial<HttpReply>, headers: Record<string, string> = {}): HttpReply => ({
  status: null,
  text: '',
  body: null,
  latencyMs: 1,
  reason: null,
  ...more,
  headers: new Headers(headers),
})
const decided = { 'x-quorum-offset': '7', 'x-quorum-dissented': 'sv-2,sv-3' }

it.each<[string, HttpReply, object]>([
  [
    'an entry',
    asked({ status: 200, body: { entry: 1 } }, { ...decided, 'x-quorum-outcome': 'verified' }),
    { kind: 'answered', offset: 7, entry: 1, dissented: ['sv-2', 'sv-3'] },
  ],
  [
    'an absence that a quorum confirms',
    asked({ status: 404 }, { ...decided, 'x-quorum-outcome': 'verified-absent' }),
    { kind: 'answered', offset: 7, entry: null, dissented: ['sv-2', 'sv-3'] },
  ],
  [
    'a dispute',
    asked(
      { status: 502, body: { code: 'CONSENSUS_DISPUTED' } },
      { 'x-quorum-outcome': 'disputed' },
    ),
    { kind: 'refused', code: 'CONSENSUS_DISPUTED' },
  ],
  ['a page of another server', asked({ status: 404 }), { kind: 'refused', code: 'HTTP_404' }],
  ['no server', asked({ reason: 'refused' }), { kind: 'no-connection', code: 'refused' }],
  ['a connection that ends', asked({ reason: 'reset' }), { kind: 'no-connection', code: 'reset' }],
  ['silence', asked({ reason: 'timeout' }), { kind: 'timed-out' }],
])('%s', (_, answer, outcome) => {
  expect(outcomeOf(answer)).toEqual(outcome)
})

it('reports a node without signed statements where others have some', () => {
  const state = (node: string, more: Partial<NodeSignedState>): NodeSignedState => ({
    node,
    state: null,
    newest: null,
    reason: null,
    ...more,
  })
  const signed = state('sv-1', { newest: { offset: 7, recordTime: 1 } })
  const states = [signed, state('sv-2', {}), state('sv-3', { reason: 'timeout' })]
  const problems = ['sv-1', 'sv-2', 'sv-3'].map((node) =>
    signedProblemOf(node, { offset: 7, states }),
  )
  expect(problems).toEqual([null, expect.stringContaining('no signed statements'), 'timeout'])
  expect(signedProblemOf('sv-2', { offset: null, states: [state('sv-2', {})] })).toBeNull()
})
