import { serve } from '@quorumscan/testkit'
import { expect, it, onTestFinished } from 'vitest'
import { STRANGER_ADDRESS } from '../../faults/strangers.ts'
import { createStrangerTransport } from './stranger.ts'

const request = {
  method: 'GET',
  path: '/x',
  headers: { accept: 'a/b' },
  body: null,
  bytesMax: 100,
  channel: 'lookup',
  isPublicOnly: false,
} as const

it('asks from an address and with headers that no monitor has', async () => {
  const seen: unknown[] = []
  const node = await serve((incoming, response) => {
    const { accept, origin, 'user-agent': agent } = incoming.headers
    seen.push([incoming.socket.remoteAddress?.replace('::ffff:', ''), accept, origin, agent])
    response.setHeader('x-a', 'b').end('body')
  })
  onTestFinished(() => node[Symbol.asyncDispose]())
  const { signal } = new AbortController()
  const reply = await createStrangerTransport().request({ ...request, url: node.url, signal })
  expect([reply.status, reply.header('x-a'), Buffer.from(reply.body).toString()]).toEqual([
    200,
    'b',
    'body',
  ])
  expect(seen).toEqual([
    [STRANGER_ADDRESS, 'a/b', 'https://wallet.example', expect.stringContaining('Android')],
  ])
})

it.each([
  ['too large', 'x'.repeat(200), 'more than 100 bytes'],
  ['endless', 'x', 'aborted'],
])('an answer that is %s is given up', async (_, text, why) => {
  const left = new AbortController()
  const node = await serve((_incoming, response) => {
    response.write(text)
    if (text === 'x') left.abort()
  })
  onTestFinished(() => node[Symbol.asyncDispose]())
  const asking = createStrangerTransport().request({
    ...request,
    url: node.url,
    signal: left.signal,
  })
  await expect(asking).rejects.toThrow(why)
})
