import { join } from 'node:path'
import { createDirectory } from '@quorumscan/testkit'
import { expect, it } from 'vitest'
import { createEngineRpc } from '../engine-rpc.ts'
import type { EngineRead } from './engine-read.ts'
import { openLightSocket } from './light-sockets.ts'

it('a light client’s socket forwards only the permitted methods to its member', async () => {
  using directory = createDirectory()
  const asked: (readonly [string, EngineRead])[] = []
  const { signal } = new AbortController()
  const open = async (member: string) => {
    const socketPath = join(directory.path, member)
    const listening = await openLightSocket(socketPath, async (read) => {
      asked.push([member, read])
      if (read.method === 'validators') return { refusal: 'height 7 is not available' }
      if (read.method === 'consensus_params') throw new Error('two does not answer')
      return { result: { member } }
    })
    return { ...createEngineRpc({ socketPath, signal }), listening }
  }
  const [one, two] = await Promise.all(['one', 'two'].map(open))
  expect(await one?.call('commit', { height: '7' })).toEqual({ member: 'one' })
  // The client looks for this sentence.
  await expect(two?.call('validators', { height: '7', page: '1' })).rejects.toThrow(
    'height 7 is not available',
  )
  await expect(two?.call('consensus_params')).rejects.toThrow('two does not answer')
  for (const method of ['broadcast_evidence', 'sync_anchors_', ''])
    await expect(two?.call(method)).rejects.toThrow('this cannot be read from other members')
  expect(asked).toEqual([
    ['one', { method: 'commit', params: { height: '7' } }],
    ['two', { method: 'validators', params: { height: '7', page: '1' } }],
    ['two', { method: 'consensus_params', params: {} }],
  ])
  for (const opened of [one, two]) await opened?.listening[Symbol.asyncDispose]()
})
