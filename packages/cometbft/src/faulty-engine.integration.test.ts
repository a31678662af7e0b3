/**
 * Reads of an engine, with each fault of a peer: each rejects in time, and another engine is reached.
 * @module-tag rest
 */
import { join } from 'node:path'
import {
  createDirectory,
  PEER_FAULTS,
  type PeerFault,
  serve,
  startFaultyPeer,
  until,
} from '@quorumscan/testkit'
import { it } from '@quorumscan/testkit/fixtures'
import { expect } from 'vitest'
import { createEngineRpc } from './engine-rpc.ts'

const never = new AbortController().signal
/** A Unix socket accepts as long as its backlog has room. */
const FAULTS = (Object.keys(PEER_FAULTS) as PeerFault[]).filter(
  (fault) => fault !== 'hangs before it accepts the connection',
)

it('an engine with a fault delays no other one, and its reads end', async ({ resources }) => {
  const directory = resources.opened(createDirectory('engine'))
  const healthyPath = join(directory.path, 'healthy.sock')
  resources.opened(
    await serve((_, response) => response.end('{"result":{"is":"well"}}'), { at: healthyPath }),
  )
  const reads = await Promise.all(
    FAULTS.map(async (fault, index) => {
      const socketPath = join(directory.path, `${index}.sock`)
      const peer = resources.opened(await startFaultyPeer(fault, { socketPath }))
      const rpc = createEngineRpc({ socketPath, signal: never })
      return {
        fault,
        peer,
        failed: rpc.call('status').then(
          () => false,
          () => true,
        ),
      }
    }),
  )
  expect(await createEngineRpc({ socketPath: healthyPath, signal: never }).call('status')).toEqual({
    is: 'well',
  })
  for (const { fault, peer, failed } of reads) {
    await peer.reached()
    expect([fault, await failed]).toEqual([fault, true])
    await until('no connection', () => peer.openCount() === 0 || undefined)
  }
})
