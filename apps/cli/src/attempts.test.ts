import type { Transport, TransportReply } from '@quorumscan/reader'
import { it } from '@quorumscan/testkit/fixtures'
import { CERTIFIED_MEDIA_TYPE } from '@quorumscan/verifier/certified'
import { expect } from 'vitest'
import { recordAttempts } from './attempts.ts'

const nodes = ['sv-1', 'sv-2', 'sv-3'].map((name) => ({ name, url: `https://${name}.example` }))
const answer: TransportReply = { status: 200, header: () => null, body: new Uint8Array() }
const refused = Object.assign(new Error('connect'), { code: 'ECONNREFUSED' })

/** sv-1 is down, sv-2 hangs, sv-3 answers. */
const network: Transport = {
  request: ({ url }) => {
    if (url === nodes[0]?.url) return Promise.reject(refused)
    return url === nodes[1]?.url ? new Promise(() => {}) : Promise.resolve(answer)
  },
}

it('shows the nodes that were asked for a proof in order, and which are down or hang', async ({
  clock,
}) => {
  const { transport, attempts } = recordAttempts(network, clock)
  const ask = (url: string, accept = CERTIFIED_MEDIA_TYPE) =>
    transport.request({
      url,
      method: 'GET',
      path: '/',
      headers: { accept },
      body: null,
      bytesMax: 1,
      channel: 'lookup',
      isPublicOnly: false,
      signal: new AbortController().signal,
    })
  const [down, hung, up] = nodes.map(({ url }) => url) as [string, string, string]
  await ask(up, 'application/json')
  await expect(ask(down)).rejects.toThrow('connect')
  void ask(hung)
  await clock.advance(999)
  await ask(up)
  const reasons = () => attempts(nodes, [], 0).map(({ node, reason }) => `${node}: ${reason}`)
  expect(reasons()).toEqual(['sv-1: refused', 'sv-2: no answer in 999 ms', 'sv-3: answered'])
  await clock.advance(1)
  expect(reasons()[1]).toBe('sv-2: timeout (1000 ms)')
})
