/** Each client of other processes, with each fault of a peer: it fails in time, and reaches others meanwhile. */
import {
  createManualClock,
  PEER_FAULTS,
  type PeerFault,
  serve,
  startFaultyPeer,
  until,
} from '@quorumscan/testkit'
import { it } from '@quorumscan/testkit/fixtures'
import { expect } from 'vitest'
import { ask } from './ask.ts'
import { createPeerClient } from './peer-client.ts'
import { createUndiciTransport } from './undici-transport.ts'

const FAULTS = Object.keys(PEER_FAULTS) as PeerFault[]
const PATH = '/v0/x'

/** A client with the limit of its own that ends the request. */
type Client = AsyncDisposable & {
  /** Rejects, or resolves with the text of the answer. */
  readonly read: (url: string) => Promise<string>
  /** Whether it gives up by itself when interim answers do not end. */
  readonly boundsInterim: boolean
  /** Lets the time pass that a request has. */
  readonly expire: () => Promise<void>
}

const CLIENTS: Readonly<Record<string, () => Client>> = {
  'the client of peers, with its default limit': () => {
    const clock = createManualClock()
    const client = createPeerClient({ clock })
    return {
      read: async (url) =>
        Buffer.from(await client.read(url, { path: PATH, bytesMax: 100 })).toString(),
      boundsInterim: true,
      expire: () => clock.advance(30_000),
      [Symbol.asyncDispose]: () => client[Symbol.asyncDispose](),
    }
  },
  'the transport of readers, whose signal is its limit': () => {
    const transport = createUndiciTransport()
    const over = new AbortController()
    const asked = { path: PATH, method: 'GET', headers: {}, body: null, bytesMax: 100 } as const
    return {
      read: async (url) => {
        const more = { channel: 'lookup', isPublicOnly: false, signal: over.signal } as const
        return Buffer.from((await transport.request({ ...asked, ...more, url })).body).toString()
      },
      boundsInterim: true,
      expire: async () => over.abort(new Error('over')),
      [Symbol.asyncDispose]: () => transport[Symbol.asyncDispose](),
    }
  },
  'the requests of commands': () => {
    const over = new AbortController()
    return {
      read: async (url) => {
        const options = { timeoutMs: 3_600_000, signal: over.signal }
        const { status, text, reason } = await ask(url + PATH, options)
        if (status === null) throw new Error(String(reason))
        return text
      },
      boundsInterim: false,
      expire: async () => over.abort(new Error('over')),
      [Symbol.asyncDispose]: async () => {},
    }
  },
}

it.for(Object.keys(CLIENTS))('%s', async (name, { resources }) => {
  const client = resources.opened((CLIENTS[name] as () => Client)())
  const healthy = resources.opened(await serve((_, response) => response.end('"yes"')))
  const peers = await Promise.all(
    FAULTS.map(async (fault) => ({
      fault,
      peer: resources.opened(await startFaultyPeer(fault)),
    })),
  )
  const ended = new Map<string, string>()
  const asking = peers.map(({ fault, peer }) =>
    client.read(peer.url).then(
      (text) => ended.set(fault, `answered ${text}`),
      (error: Error) => ended.set(fault, `failed: ${error.name}`),
    ),
  )
  // A peer that closes is noticed without a limit.
  await until('the peer that closes', () => ended.get('closes without an answer'))
  if (client.boundsInterim)
    await until('interim answers', () => ended.get('sends interim answers without end'))
  expect(await client.read(healthy.url)).toBe('"yes"')
  for (const { peer } of peers) await peer.reached()
  await client.expire()
  await Promise.all(asking)
  for (const fault of FAULTS)
    expect([fault, ended.get(fault)]).toEqual([fault, expect.stringMatching(/^failed/)])
  for (const { fault, peer } of peers)
    await until(
      `no connection to the peer that ${fault}`,
      () => peer.openCount() === 0 || undefined,
    )
})
