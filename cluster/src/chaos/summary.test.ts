import { expect, it } from 'vitest'
import type { HistoryEvent } from './history.ts'
import { renderReport } from './report.ts'
import type { Scenario } from './schedule.ts'
import { summarize } from './summary.ts'

const scenario: Scenario = {
  seed: '<script>',
  durationMs: 10_000,
  nodes: 4,
  budget: 'f',
  steps: [],
}

function lookup(startMs: number, dissented: readonly string[] | null): HistoryEvent {
  return {
    kind: 'lookup',
    client: 'client-1',
    startMs,
    endMs: startMs + 10,
    subject: { name: 'alice.unverified.ns' },
    quorum: 'weak',
    outcome:
      dissented === null
        ? { kind: 'undecided', code: 'NOT_ENOUGH_NODES' }
        : { kind: 'decided', offset: 7, entry: null, dissented },
  }
}

const history: HistoryEvent[] = [
  lookup(500, []),
  lookup(1200, ['sv-2']),
  lookup(5600, null),
  {
    kind: 'fault',
    startMs: 1000,
    seenMs: null,
    healedMs: 3000,
    upMs: 3000,
    endMs: 3000,
    fault: { kind: 'lie', node: 'sv-2', lie: 'value' },
  },
  {
    kind: 'fault',
    startMs: 5000,
    seenMs: 5500,
    healedMs: 6000,
    upMs: 7500,
    endMs: 8000,
    fault: { kind: 'kill', node: 'sv-1', part: null },
  },
  {
    kind: 'fault',
    startMs: 8500,
    seenMs: null,
    healedMs: 9000,
    upMs: null,
    endMs: 9000,
    fault: { kind: 'slow', node: 'sv-3', edge: 'http', latencyMs: 50, jitterMs: 0 },
  },
  { kind: 'evidence', node: 'sv-2', pairs: 3 },
]
const verdict = { verdict: 'valid', sentence: 'all <b>true</b>', findings: [] } as const
const summary = summarize(history, { verdict, scenario })

it('tells how soon a fault was seen, the node was up, and where the others are', () => {
  expect(
    summary.faults.map(({ node, detectionMs, recoveryMs, catchUpMs }) => [
      node,
      detectionMs,
      recoveryMs,
      catchUpMs,
    ]),
  ).toEqual([
    ['sv-2', 210, 0, 0],
    ['sv-1', 500, 1500, 500],
    ['sv-3', null, null, null],
  ])
  expect(summary.faults.map(({ decided, undecided }) => [decided, undecided])).toEqual([
    [1, 0],
    [0, 1],
    [0, 0],
  ])
})

it('is one page that needs nothing else, in which nothing can pose as a part of it', () => {
  const html = renderReport(history, summary)
  expect(html).toContain('wrong answers served: 0')
  expect(html).toContain('<td>sv-2<td class=n>3')
  expect(html).not.toMatch(/<script|<b>true|(src|href)=/)
})
