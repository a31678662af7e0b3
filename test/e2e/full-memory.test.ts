/**
 * The Redis of the log is filled up to its limit. The log then refuses what adds to the state; archivals and lookups
 * continue; the log is trimmed, and accepts everything again without an operator.
 *
 * @module-tag rest
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createKeyPair, type KeyPair } from '@quorumscan/base'
import { isScanError } from '@quorumscan/errors'
import { encodeEntry } from '@quorumscan/ledger'
import { createLogClient } from '@quorumscan/log'
import { type Command, partyIdOf } from '@quorumscan/model'
import { send, until, untilTrue } from '@quorumscan/testkit'
import { it as base } from '@quorumscan/testkit/fixtures'
import { hashGenesis, parseGenesis } from '@quorumscan/verifier'
import type { RunningCluster } from 'quorumscan/testing'
import { expect } from 'vitest'
import { clock, createUser, lookup, untilFound } from '../support/client.ts'
import { startCluster } from '../support/clusters.ts'
import { runCommand } from '../support/command.ts'
import { fillTo, openSynchronizers } from '../support/synchronizers.ts'

/** Of three Redis servers: each has 21 MiB. */
const REDIS_MEMORY_MIB = 64
const NAME = 'alice.unverified.ns'
/** A network takes snapshots at these offsets. */
const SNAPSHOTS = { first: 1024, second: 2048 }
const FAT_BYTES = 200_000
const LIFETIME_MICROS = 300_000_000
const IN_FLIGHT = 16
const ATTEMPT_MS_MAX = 60_000

const it = base.extend('cluster', { scope: 'file' }, async ({ fileResources }) =>
  fileResources.opened(
    await startCluster({ nodes: 1, redisMemoryMib: REDIS_MEMORY_MIB, logKeepSeconds: 0 }),
  ),
)

/** Makes entries that are admitted, and that each replica refuses. */
async function createRefused({ dataDir }: RunningCluster) {
  const genesis = parseGenesis(JSON.parse(readFileSync(join(dataDir, 'genesis.json'), 'utf8')))
  const genesisHash = await hashGenesis(genesis)
  const keyPair: KeyPair = createKeyPair()
  const party = partyIdOf('someone', keyPair.publicKey) ?? ''
  let count = 0
  const sign = (command: Command): Uint8Array => {
    const index = count++
    return encodeEntry(
      {
        genesis: genesisHash,
        participant: keyPair.publicKey,
        id: String(index).padStart(32, '0'),
        notAfter: clock.nowMicros() + LIFETIME_MICROS,
        userId: 'someone',
        actAs: [party],
        readAs: [],
        commandId: `refused-${index}`,
        submissionId: '',
        workflowId: '',
        deduplication: { kind: 'duration', micros: 0 },
        commands: [command],
        disclosed: [],
      },
      keyPair,
    )
  }
  const of = { kind: 'exercise', contractId: `00${'ab'.repeat(32)}` } as const
  return {
    fat: () =>
      sign({
        ...of,
        template: '#nothing:Of:That',
        choice: 'Fill',
        argument: { fat: 'x'.repeat(FAT_BYTES) },
      }),
    archival: () =>
      sign({ ...of, template: '#quorumscan-coin:Coin:Coin', choice: 'Archive', argument: {} }),
  }
}

it('an entry that every replica would refuse is not admitted from a client without a token', async ({
  cluster,
}) => {
  const entries = await createRefused(cluster)
  await using anonymous = createLogClient({ url: cluster.urls.synchronizer })
  // A node that is busy for 50 ms gives no judgement: then the entry is admitted.
  const refused = await until('a judgement', () =>
    anonymous.submit(entries.archival(), AbortSignal.timeout(ATTEMPT_MS_MAX)).then(
      () => undefined,
      // Those that were admitted used up the rate of the address.
      (error: unknown) => (isScanError(error) && error.code === 'RATE_LIMITED' ? undefined : error),
    ),
  )
  expect(refused).toMatchObject({
    code: 'INVALID_ARGUMENT',
    message: expect.stringMatching(/^every replica would refuse this entry now: PERMISSION_DENIED/),
  })
})

it('a full log refuses what adds, never stops lookups, and is normal again without an operator', async ({
  cluster,
}) => {
  const alice = await createUser(cluster, 'alice')
  await alice.pay(NAME)
  await untilFound(cluster, NAME)
  const unpaid = await alice.request('never-paid.unverified.ns')
  await fillTo(cluster, SNAPSHOTS.first)

  const [synchronizer] = await openSynchronizers(cluster)
  expect.assert(synchronizer !== undefined)
  const entries = await createRefused(cluster)
  /** Resolves with the code of the refusal; null: it is in the log. */
  const submit = (bytes: Uint8Array) =>
    synchronizer.submit(bytes).then(
      () => null,
      (error: unknown) => {
        if (isScanError(error)) return error.code
        throw error
      },
    )
  const submitAtRate = (bytes: Uint8Array) =>
    until('a place within the rate', async () => {
      const refused = await submit(bytes)
      return refused === 'RATE_LIMITED' || refused === 'OVERLOADED' ? undefined : { refused }
    })

  const readiness = () => send(`${cluster.urls.synchronizer}/readyz`)
  await untilTrue('the memory to be full', async () => {
    await submitAtRate(entries.fat())
    const alive = await send(`${cluster.urls.synchronizer}/livez`)
    return Number(alive.headers.get('x-memory')) >= 900
  })
  await untilTrue('the log to be full', async () => (await readiness()).status === 503)
  expect((await submitAtRate(entries.fat())).refused).toBe('LOG_FULL')

  // What adds is refused, with a definite answer that says when to come again.
  const tap = await alice.client.POST('/v0/wallet/tap', { body: { amount: '1.0' } })
  expect(tap.error).toMatchObject({ code: 'LOG_FULL', definite: true })
  expect(tap.response.headers.get('retry-after')).toBe('1')
  const ready = await readiness()
  expect([ready.status, ready.body.code]).toEqual([503, 'LOG_FULL'])
  expect(ready.body.error).toMatch(/^the memory of the log's Redis is full to (?:8[89]|9[0-6]) %/)

  // Lookups are fresh, `status` names the reason, and what ends something is accepted.
  const recordTime = async () => {
    const answer = await lookup(cluster, NAME)
    expect([answer.status, answer.headers.get('x-quorum-outcome')]).toEqual([200, 'trusted'])
    return answer.headers.get('x-quorum-record-time') ?? ''
  }
  const before = await recordTime()
  await untilTrue('record time to advance', async () => (await recordTime()) > before)
  const { text } = await runCommand(cluster, 'status')
  expect(text.replace(/\s+/g, ' ')).toMatch(
    /the memory of the log's Redis is full to (?:8[89]|9[0-6]) %/,
  )
  const rejected = await alice.client.POST(
    '/v0/wallet/subscription-requests/{contract_id}/reject',
    { params: { path: { contract_id: unpaid } } },
  )
  expect(rejected.error).toBeUndefined()

  // The next snapshot frees what lies before it.
  await Promise.all(
    Array.from({ length: IN_FLIGHT }, async () => {
      while ((await synchronizer.head()) < SNAPSHOTS.second) {
        const { refused } = await submitAtRate(entries.archival())
        expect(refused).toBeNull()
      }
    }),
  )
  await untilTrue('the log to accept entries again', async () => (await readiness()).status === 200)
  await alice.pay('later.unverified.ns')
  await untilFound(cluster, 'later.unverified.ns')
  expect((await lookup(cluster, NAME)).body).toMatchObject({ entry: { user: alice.party } })
  const { nodes, validator, synchronizer: log } = await cluster.status()
  expect([...nodes, validator, log].map(({ state }) => state)).toEqual(['up', 'up', 'up'])
})
