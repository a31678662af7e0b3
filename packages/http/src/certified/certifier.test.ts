/** What a process believes of the statements that it pulls. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createSystemClock, toHex } from '@quorumscan/base'
import { createWebCrypto, encodeStateStatement } from '@quorumscan/consensus'
import {
  type Certificate,
  encodeCertificate,
  verifySignatures,
} from '@quorumscan/consensus/certified'
import { createTestNetwork } from '@quorumscan/testkit'
import { expect, test } from 'vitest'
import { createLogger } from '../logger.ts'
import { createMetrics } from '../metrics.ts'
import type { Peer } from '../peer-clocks.ts'
import { createCertifier } from './certifier.ts'

const { genesis, genesisHash, scans } = createTestNetwork()
const POINT = { offset: 7, recordTime: 1, historyHash: 'a'.repeat(64), stateRoot: 'b'.repeat(64) }
const STATEMENT = encodeStateStatement({ ...POINT, genesisHash })

/** By the keys of these members, under these names. */
function signed(...signers: readonly (readonly [name: string, key: number])[]): Certificate {
  const signatures = signers.map(
    ([name, key]) => [name, toHex(scans[key]?.sign(STATEMENT) ?? new Uint8Array())] as const,
  )
  return { ...POINT, genesisHash, signatures }
}

/** Tells these, one a poll, and then lets polls wait. */
async function startMember(told: readonly Certificate[]) {
  const rest = [...told]
  const server = createServer((_, response) => {
    const next = rest.shift()
    if (next !== undefined) response.end(`{"statements":[${encodeCertificate(next)}]}`)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

function startCertifier(peers: readonly Peer[]) {
  return createCertifier({
    ...{ genesis, genesisHash, self: null, clock: createSystemClock(), peers },
    replica: {
      statePoints: () => [POINT],
      onStatePoint: () => ({ [Symbol.dispose]() {} }),
      diverged: () => null,
    },
    logger: createLogger({ name: 'test', level: 'silent' }),
    metrics: createMetrics(),
  })
}

test.each([
  ['tells what another one signed', signed(['sv-1', 0])],
  ['tells what another one signed as well', signed(['sv-1', 0], ['sv-2', 1])],
  ['signs with another key', signed(['sv-2', 2])],
])('a member that %s is not believed, and asked again', async (_, lie) => {
  await using honest = await startMember([signed(['sv-1', 0])])
  await using liar = await startMember([lie, signed(['sv-2', 1])])
  await using certifier = startCertifier([
    { name: 'sv-1', url: honest.url },
    { name: 'sv-2', url: liar.url },
  ])
  const certificate = await certifier.certified({
    ...{ signerCount: 2, minOffset: 7, waitMs: 600_000 },
    request: { signal: new AbortController().signal },
  })
  expect(certificate.signatures.map(([name]) => name)).toEqual(['sv-1', 'sv-2'])
  await verifySignatures(certificate, { genesis, genesisHash, crypto: createWebCrypto() })
})

test('whoever waits for a state is told when the process stops', async () => {
  const certifier = startCertifier([])
  const { signal } = new AbortController()
  const waiting = certifier.ownAfter(7, signal)
  await certifier[Symbol.asyncDispose]()
  await expect(waiting).rejects.toMatchObject({ code: 'NOT_READY' })
})
