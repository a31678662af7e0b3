import { UsageError } from '@quorumscan/runtime'
import { expect, it } from 'vitest'
import type { ClusterStatus } from '../rig/status.ts'
import { targetsOf } from './node-commands.ts'

const named = ['sv-1', 'sv-2'].map((name) => ({ name }))
// Of a status only the names count.
const status = (members: readonly { name: string }[]) =>
  ({ nodes: named, members }) as unknown as Pick<ClusterStatus, 'nodes' | 'members'>
const alone = status([])
const together = status(named)

const textOf = (words: string, of = alone) =>
  targetsOf(words.split(' '), of).map(({ node, part }) =>
    part === null ? node : `${part} of ${node}`,
  )

it('accepts several nodes, each followed by one of its processes', () => {
  expect(textOf('sv-1 sv-2')).toEqual(['sv-1', 'sv-2'])
  expect(textOf('sv-1 redis sv-2 validator')).toEqual(['redis of sv-1', 'sv-2', 'validator'])
  expect(textOf('synchronizer redis')).toEqual(['redis of synchronizer'])
})

it('treats `synchronizer` after a member as its process, and after other nodes as the next node', () => {
  expect(textOf('sv-1 synchronizer')).toEqual(['sv-1', 'synchronizer'])
  expect(textOf('sv-1 synchronizer', together)).toEqual(['synchronizer of sv-1'])
  expect(textOf('synchronizer cometbft', together)).toEqual(['cometbft of synchronizer'])
})

it('refuses a name that no node has', () => {
  expect(() => textOf('sv-1 sv-9')).toThrow(UsageError)
  expect(() => textOf('redis')).toThrow('unknown node redis; the nodes are sv-1, sv-2, validator')
})
