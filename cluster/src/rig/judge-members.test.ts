/** What processes that disagree about a node make of it. */
import type { MemberHealth } from '@quorumscan/errors/node-words'
import { expect, it } from 'vitest'
import { judgedHealth } from './judge-members.ts'

const report = (health: MemberHealth) => [
  { name: 'sv-1', health: 'silent', signedOffset: null, unsignedSeconds: 0 } as const,
  { name: 'sv-2', health, signedOffset: 7, unsignedSeconds: 0 } as const,
]

it.each<[what: string, reports: Parameters<typeof judgedHealth>[1], MemberHealth | null]>([
  ['all say healthy', [report('healthy'), report('healthy'), report('healthy')], 'healthy'],
  [
    'a validator that is cut off',
    [report('healthy'), report('healthy'), report('silent')],
    'healthy',
  ],
  ['a node that is cut off', [report('healthy'), report('silent'), report('silent')], 'silent'],
  ['what most say', [report('silent'), report('unsigned'), report('unsigned')], 'unsigned'],
  ['too few answer', [report('unsigned'), null, null], null],
  ['no report names it', [[], [], []], null],
])('%s', (_, reports, health) => {
  expect(judgedHealth('sv-2', reports, 2)).toBe(health)
})
