import { EQUIVOCATED, type NodeSignedState, newestSigned } from '@quorumscan/operator'
import { expect, it } from 'vitest'
import { compareStates } from './check.ts'

const root = 'ab'.repeat(32)

function state(node: string, more: Partial<NodeSignedState> = {}): NodeSignedState {
  const newest = { offset: 252, recordTime: 1_700_000_000_000_000 }
  return { node, state: { historyHash: root, stateRoot: root }, newest, reason: null, ...more }
}

const honest = ['sv-1', 'sv-2', 'sv-3'].map((node) => state(node))

it('reports equal replicas only if every node signed the same state', () => {
  expect(compareStates({ offset: 252, states: [...honest, state('sv-4')] })).toMatchObject({
    exitCode: 0,
    text: expect.stringMatching(/^at offset 252: all replicas are equal\n/),
    json: { equal: true },
  })
})

it('names the node that lags, by how much and since when', () => {
  const newest = { offset: 32, recordTime: 1_700_000_000_000_000 }
  const { exitCode, text, json } = compareStates({
    offset: 252,
    states: [...honest, state('sv-4', { state: null, newest })],
  })
  expect(exitCode).toBe(3)
  expect(text.split('\n')).toEqual([
    'at offset 252: 3 of 4 replicas are equal; sv-4 lags',
    ...honest.map(({ node }) => `  ${node}    ${root}`),
    '  sv-4    lags by 220: at offset 32 since 2023-11-14T22:13:20.000000Z',
    'A node that lags is catching up, is cut off from the log, or stopped signing',
    'because its replica differs from the log. `quorumscan status` and its log file',
    'show which. Run this again when it has caught up.',
  ])
  expect(json).toMatchObject({ equal: false })
})

it('names the nodes that gave no signed state, and why, also if all are such nodes', () => {
  const silent = (node: string) => state(node, { state: null, newest: null, reason: 'timeout' })
  expect(compareStates({ offset: 252, states: [...honest, silent('sv-4')] })).toMatchObject({
    exitCode: 4,
    text: expect.stringMatching(
      /equal; sv-4 gave no signed state\n(.*\n)+ {2}sv-4 {4}timeout\nFor each node that gave no signed state, /,
    ),
  })
  expect(compareStates({ offset: null, states: [silent('sv-1'), silent('sv-2')] })).toMatchObject({
    exitCode: 4,
    text: 'No node of this genesis answered with a state that it signed. Check that they\nrun, that the addresses are those of scan nodes, and that the genesis is that of\ntheir network.\n  sv-1    timeout\n  sv-2    timeout',
  })
})

it('lists a node that signed two states separately from nodes that gave none', () => {
  const twice = { state: null, newest: null, reason: `${EQUIVOCATED} of offset 80` }
  const { exitCode, text } = compareStates({
    offset: 252,
    states: [...honest, state('sv-4', twice)],
  })
  expect([exitCode, text]).toEqual([
    4,
    expect.stringMatching(
      /3 of 4 replicas are equal; sv-4 signed two states\n(.*\n)+ {2}sv-4 {4}it signed two states of offset 80\nA node that signed two states/,
    ),
  ])
  expect(text).not.toContain('gave no signed state')
})

it('says first that replicas differ, even if another node does not answer', () => {
  const other = state('sv-3', { state: { historyHash: root, stateRoot: '00'.repeat(32) } })
  const silent = state('sv-4', { state: null, newest: null, reason: 'refused' })
  expect(
    compareStates({ offset: 252, states: [...honest.slice(0, 2), other, silent] }),
  ).toMatchObject({
    exitCode: 1,
    text: expect.stringContaining('the replicas DIFFER; sv-4 gave no signed state'),
  })
})

it('compares at the newest offset that enough nodes signed, not at that of a stalled node', () => {
  const stuck = [30, 31, 32]
  const ahead = [31, 32, 251, 252]
  expect(newestSigned([stuck, ahead, ahead, ahead], 2)).toBe(252)
  // A single node may have signed a false state.
  expect(newestSigned([stuck, ahead, ahead, [...ahead, 9999]], 2)).toBe(252)
  expect(newestSigned([], 0)).toBe(null)
})
