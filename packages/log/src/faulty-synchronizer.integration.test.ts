/** Each operation of the client of a synchronizer, with each fault of a peer: `DEPENDENCY_UNAVAILABLE` in time. */
import {
  createManualClock,
  PEER_FAULTS,
  type PeerFault,
  startFaultyPeer,
  until,
} from '@quorumscan/testkit'
import { it } from '@quorumscan/testkit/fixtures'
import { expect } from 'vitest'
import { createLogClient, type LogClient } from './log-client.ts'

const never = new AbortController().signal
const OPERATIONS: Readonly<Record<string, (client: LogClient) => Promise<unknown>>> = {
  submit: (client) => client.submit(Uint8Array.of(1), never),
  evidence: (client) => client.evidence(never),
  readiness: (client) => client.readiness(never),
  readEngine: (client) => client.readEngine(Uint8Array.of(1), never),
}

it.for(Object.keys(PEER_FAULTS) as PeerFault[])(
  'a synchronizer that %s',
  async (fault, { resources }) => {
    const peer = resources.opened(await startFaultyPeer(fault))
    const clock = createManualClock()
    const client = resources.opened(createLogClient({ url: peer.url, clock }))
    const ended: [string, unknown][] = []
    const asking = Object.entries(OPERATIONS).map(async ([name, ask]) => {
      const code = await ask(client).then(
        () => 'answered',
        (error: { readonly code?: unknown }) => error.code,
      )
      ended.push([name, code])
    })
    await peer.reached(asking.length)
    await clock.advance(30_000)
    await Promise.all(asking)
    expect(Object.fromEntries(ended)).toEqual(
      Object.fromEntries(Object.keys(OPERATIONS).map((name) => [name, 'DEPENDENCY_UNAVAILABLE'])),
    )
    await until('no connection', () => peer.openCount() === 0 || undefined)
  },
)
