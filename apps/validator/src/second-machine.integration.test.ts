import type { LogEntry } from '@quorumscan/ledger'
import { createEntrySigner } from '@quorumscan/ledger/testing'
import type { Micros } from '@quorumscan/model'
import { createLogger } from '@quorumscan/runtime'
import {
  createHttpClient,
  send,
  startRedis,
  testKeyPair,
  until,
  untilTrue,
} from '@quorumscan/testkit'
import { expect, it } from 'vitest'
import { watchSecondMachine } from './second-machine.ts'
import { startValidator } from './server.ts'
import { startNetwork } from './testing/network.ts'

const GENESIS = 'ab'.repeat(32)
const MINUTE = 60_000_000
/** When the process under test was live for the first time. */
const LIVE = 1_700_000_000_000_000
const own = testKeyPair('participant')
const other = testKeyPair('another participant')
const { signal } = new AbortController()

const sign = createEntrySigner(() => ({
  genesis: GENESIS,
  userId: 'alice',
  actAs: [`alice::1220${'cd'.repeat(32)}`],
  commands: [{ kind: 'create', template: 't', argument: {} }],
}))
/** Signed at the record time, valid for 15 s. */
const signedAt = (micros: Micros, keyPair = own) => sign({ notAfter: micros + MINUTE / 4 }, keyPair)

/** A process that follows a log. It is live at `LIVE`, after the first batch. */
async function startWatch({ isLive = true } = {}) {
  const found: number[] = []
  let batch: readonly LogEntry[] = []
  let offset = 0
  const watch = watchSecondMachine(
    {
      async submit() {},
      async *follow() {
        yield batch
      },
    },
    {
      publicKey: own.publicKey,
      genesisHash: GENESIS,
      isLive: () => isLive,
      now: () => LIVE,
      onFound: (entry) => void found.push(entry.offset),
    },
  )
  const apply = async (bytes: Uint8Array, recordTime: Micros) => {
    batch = [{ offset: ++offset, recordTime, bytes }]
    const request = { from: 0, expected: null, batchEntriesMax: 1, signal }
    for await (const entries of watch.ordering.follow(request)) expect(entries).toBe(batch)
  }
  await apply(new Uint8Array(), LIVE)
  return {
    found,
    apply,
    watch,
    submit: (bytes: Uint8Array) => watch.ordering.submit(bytes, signal),
  }
}

it('reports an entry signed by the key of the validator that this process did not submit', async () => {
  const { found, apply, watch } = await startWatch()
  expect(watch.detail()).toBeNull()
  const at = LIVE + 20 * MINUTE
  await apply(signedAt(at), at)
  expect(found).toEqual([2])
  expect(watch.detail()).toBe(
    'another process signs with the key of this participant: this one did not submit the entry at offset 2 of ' +
      '2023-11-14T22:33:20.000000Z. Stop the other validator for good, then restart this one',
  )
})

it('does not report its own entries, however often the log delivers them', async () => {
  const { found, apply, submit } = await startWatch()
  const at = LIVE + 20 * MINUTE
  const bytes = signedAt(at)
  await submit(bytes)
  for (const delay of [0, 1, 2]) await apply(bytes, at + delay)
  expect(found).toEqual([])
})

it('does not report entries that this key signed before a restart', async () => {
  const { found, apply } = await startWatch()
  const longest = LIVE + 10 * MINUTE - MINUTE / 4
  await apply(signedAt(LIVE - 1), LIVE + 1)
  await apply(signedAt(longest), LIVE + 2)
  expect(found).toEqual([])
  await apply(signedAt(longest + 1), LIVE + 3)
  expect(found).toEqual([4])
})

it('does not report anything before the replica has caught up', async () => {
  const { found, apply } = await startWatch({ isLive: false })
  const at = LIVE + 20 * MINUTE
  await apply(signedAt(at), at)
  expect(found).toEqual([])
})

it('does not report entries of another participant, or that this key did not sign', async () => {
  const { found, apply } = await startWatch()
  const at = LIVE + 20 * MINUTE
  const forged = signedAt(at)
  forged[40] = (forged[40] ?? 0) ^ 1
  for (const bytes of [signedAt(at, other), forged, forged.subarray(0, 50)]) await apply(bytes, at)
  expect(found).toEqual([])
})

it('remembers 120 000 own entries, and does not report a repetition of older ones', async () => {
  const { found, apply, submit } = await startWatch()
  const at = LIVE + 20 * MINUTE
  const [first, second] = [signedAt(at), signedAt(at)]
  await submit(first)
  await submit(second)
  for (let index = 1; index < 120_000; index++)
    await submit(new Uint8Array(Uint32Array.of(index).buffer))
  await apply(second, at)
  await apply(first, at + MINUTE)
  expect(found).toEqual([])
  await apply(first, at) // Its hash is forgotten.
  expect(found).toEqual([4])
})

it('two validators with one key report each other until one is stopped and the other restarted', async () => {
  await using network = await startNetwork()
  await using redis = await startRedis(['--appendonly', 'yes', '--appendfsync', 'always'])
  const start = (lines: string[], more: Partial<typeof network.config> = {}) =>
    startValidator(
      { ...network.config, ...more },
      {
        logger: createLogger({
          name: 'test',
          level: 'error',
          stream: { write: (line) => void lines.push(line) },
        }),
        clock: network.clock,
      },
    )
  const ready = ({ url }: { url: string }) =>
    untilTrue('it to be ready', async () => (await send(`${url}/readyz`)).status === 200)
  const detailOf = async ({ url }: { url: string }) => {
    await ready({ url })
    return (await send(`${url}/readyz`)).headers.get('x-detail')
  }
  const register = async ({ url }: { url: string }, user: string) => {
    await ready({ url })
    const client = createHttpClient(() => url, await network.token(user))
    expect(await client.post('/v0/register')).toAnswer(200)
  }
  const reported = (validator: { url: string }) =>
    until('the other process to be reported', async () => (await detailOf(validator)) ?? undefined)

  {
    const lines: { first: string[]; second: string[] } = { first: [], second: [] }
    await using first = await start(lines.first)
    await ready(first)
    await network.advance(11 * MINUTE)
    await register(first, 'alice')
    const elsewhere = { redis: { place: { path: redis.socketPath } }, isLossAccepted: true }
    await using second = await start(lines.second, elsewhere)
    await ready(second)
    expect([await detailOf(first), await detailOf(second)]).toEqual([null, null])

    await register(second, 'bob')
    expect(await reported(first)).toContain(
      'another process signs with the key of this participant',
    )
    const { body } = await send(`${first.url}/status`)
    expect(body.success.extra.detail).toContain('Stop the other validator for good')
    expect(lines.first.join('')).toContain('another process signs with the key of this participant')

    await network.advance(11 * MINUTE)
    expect(await detailOf(second)).toBeNull()
    await register(first, 'carol') // A warning alone: it writes as before.
    expect(await reported(second)).toContain(
      'another process signs with the key of this participant',
    )
  }
  await using restarted = await start([])
  await register(restarted, 'dora')
  expect(await detailOf(restarted)).toBeNull()
})
