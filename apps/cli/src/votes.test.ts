import { expect, it } from 'vitest'
import { formatVoted } from './votes.ts'

const NAME = 'alice.unverified.ns'
const decided = {
  kind: 'verified-absent',
  threshold: 2,
  heard: '3/4',
  reason: null,
  groups: [
    { nodes: ['sv-1', 'sv-2'], offset: 7, entry: null, digest: null },
    { nodes: ['sv-3'], offset: null, digest: null },
  ],
}

it('shows which nodes agreed with an answer and which dissented', () => {
  expect(formatVoted(NAME, decided).split('\n')).toEqual([
    'alice.unverified.ns: verified-absent, by votes: 2 needed, 3/4 answered',
    '  sv-1, sv-2: agreed, at offset 7',
    '  no entry',
    '  sv-3: dissented',
  ])
})

it('shows the vote of each node in a dispute, and that no node agreed', () => {
  const groups = decided.groups.map((group) => ({ ...group, offset: 7, digest: 'ab' }))
  const text = formatVoted(NAME, { ...decided, kind: 'disputed', groups, reason: 'No quorum.' })
  expect(text).toContain('\n  sv-3: at offset 7\n')
  expect(text).not.toContain('agreed')
  expect(text).toMatch(/\nNo quorum\.$/)
})
