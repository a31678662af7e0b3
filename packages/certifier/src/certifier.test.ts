/** Which of the pulled statements a process accepts. */
import { type Clock, createSystemClock, toHex } from '@quorumscan/base'
import type { Peer } from '@quorumscan/runtime'
import { createLogger, createMetrics, createPeerClient } from '@quorumscan/runtime'
import type { WaitingRequest } from '@quorumscan/server'
import { createTestNetwork, serve, until } from '@quorumscan/testkit'
import { createPlatformCrypto, encodeStateStatement } from '@quorumscan/verifier'
import {
  type Certificate,
  encodeCertificate,
  verifySignatures,
} from '@quorumscan/verifier/certified'
import { expect, it, vi } from 'vitest'
import { createCertifier } from './certifier.ts'
import { POLL_MS_MAX } from './statement-polls.ts'

const { genesis, genesisHash, scans } = createTestNetwork()
const POINT = { offset: 7, recordTime: 1, historyHash: 'a'.repeat(64), stateRoot: 'b'.repeat(64) }
const STATEMENT = encodeStateStatement({ ...POINT, genesisHash })

/** A statement, signed with the keys of these members under these names. */
function signed(...signers: readonly (readonly [name: string, key: number])[]): Certificate {
  const signatures = signers.map(
    ([name, key]) => [name, toHex(scans[key]?.sign(STATEMENT) ?? new Uint8Array())] as const,
  )
  return { ...POINT, genesisHash, signatures }
}

/** What `sv-1` signs at the offset. */
function signedAt(offset: number): Certificate {
  const point = { ...POINT, offset }
  const signature = scans[0]?.sign(encodeStateStatement({ ...point, genesisHash }))
  return { ...point, genesisHash, signatures: [['sv-1', toHex(signature ?? new Uint8Array())]] }
}

/** Answers polls with these statements, one list a poll, and then lets polls wait. */
async function startMember(answers: readonly (readonly Certificate[])[]) {
  let pollCount = 0
  const server = await serve((_, response) => {
    const answer = answers[pollCount++]
    if (answer !== undefined)
      response.end(`{"statements":[${answer.map(encodeCertificate).join(',')}]}`)
  })
  return {
    ...server,
    /** Resolves once all answers were pulled, and a further poll waits. */
    pulled: () =>
      until('all answers to be pulled', async () => pollCount > answers.length || undefined),
  }
}

function startCertifier(peers: readonly Peer[], clock: Clock = createSystemClock()) {
  const client = createPeerClient({ clock })
  const certifier = createCertifier({
    genesis,
    genesisHash,
    self: null,
    clock,
    peers,
    client,
    replica: {
      statePoints: () => [POINT],
      onStatePoint: () => ({ [Symbol.dispose]() {} }),
      diverged: () => null,
    },
    logger: createLogger({ name: 'test', level: 'silent' }),
    metrics: createMetrics(),
  })
  return {
    ...certifier,
    async [Symbol.asyncDispose]() {
      await certifier[Symbol.asyncDispose]()
      await client[Symbol.asyncDispose]()
    },
  }
}

const requestOf = (signal: AbortSignal): WaitingRequest => ({ signal, waiting: (wait) => wait() })

it.each([
  ['reports what another member signed', signed(['sv-1', 0])],
  ['also reports what another member signed', signed(['sv-1', 0], ['sv-2', 1])],
  ['signs with another key', signed(['sv-2', 2])],
])('a member that %s is refused as a signer, and polled again', async (_, lie) => {
  await using honest = await startMember([[signed(['sv-1', 0])]])
  await using liar = await startMember([[lie], [signed(['sv-2', 1])]])
  await using certifier = startCertifier([
    { name: 'sv-1', url: honest.url },
    { name: 'sv-2', url: liar.url },
  ])
  const certificate = await certifier.certified({
    signerCount: 2,
    minOffset: 7,
    waitMs: 600_000,
    request: requestOf(new AbortController().signal),
  })
  expect(certificate.signatures.map(([name]) => name)).toEqual(['sv-1', 'sv-2'])
  await verifySignatures(certificate, { genesis, genesisHash, crypto: createPlatformCrypto() })
})

it('a member is polled at increasing intervals until it has a newer statement', async () => {
  const [old, newer] = [signedAt(7), signedAt(8)]
  await using member = await startMember([[old], [old], [], [old], [], [], [], [newer], [newer]])
  const system = createSystemClock()
  const pausesMs: number[] = []
  const clock: Clock = {
    ...system,
    monotonicMs: () => 0,
    async delay(ms, signal) {
      if (ms === POLL_MS_MAX) return system.delay(ms, signal)
      if (ms > 0) pausesMs.push(ms)
    },
  }
  await using _certifier = startCertifier([{ name: 'sv-1', url: member.url }], clock)
  await member.pulled()
  expect(pausesMs).toEqual([500, 1000, 2000, 4000, 5000, 5000, 500])
})

it('the signature of a statement is verified once, however often the member repeats it', async () => {
  const verify = vi.spyOn(process.getBuiltinModule('node:crypto'), 'verify')
  const [old, newer] = [signedAt(7), signedAt(8)]
  await using member = await startMember([[old], [old, newer], [old, newer]])
  await using certifier = startCertifier([{ name: 'sv-1', url: member.url }])
  await member.pulled()
  await certifier[Symbol.asyncDispose]()
  expect(verify).toHaveBeenCalledTimes(2)
  verify.mockRestore()
})

it('a caller that waits for a state receives an error when the process stops', async () => {
  const certifier = startCertifier([])
  const { signal } = new AbortController()
  const waiting = certifier.ownAfter(7, requestOf(signal))
  await certifier[Symbol.asyncDispose]()
  await expect(waiting).rejects.toMatchObject({ code: 'NOT_READY' })
})
