/** @module-tag rest */
import { sha256Hex } from '@quorumscan/base'
import { coinRules, type LogEntry, type PeerSnapshot, tapCommand } from '@quorumscan/ledger'
import { Scenario } from '@quorumscan/ledger/testing'
import { execute } from '@quorumscan/redis'
import { cases, createSeededIntegers, startRedis } from '@quorumscan/testkit'
import fc from 'fast-check'
import { beforeAll, describe, expect, it } from 'vitest'
import { putChange } from '../storage/change-records.ts'
import { createGatheredCommands, toRedis } from '../storage/commands.ts'
import { createLayout } from '../storage/layout.ts'
import { loadHeadState } from '../storage/store.ts'
import { naiveStates } from '../testing/naive-state.ts'
import { growRandomLog } from '../testing/random-log.ts'
import { hashesOf } from '../testing/replay.ts'
import { dumpOfHead, type Followed, follow, growForgetfulLog } from '../testing/snapshots.ts'
import { createChangeRecorder, encodeSnapshot } from './encode-snapshot.ts'
import { createRecordReader } from './records.ts'

/** The state root follows the length of the head, its kind, its version and three hashes. */
const STATE_ROOT_AT = 2 + 1 + 1 + 3 * 32

describe.each([
  ['with all kinds of entries', () => growRandomLog('snapshots', 160)],
  ['that forgets', () => growForgetfulLog('snapshots')],
])('a snapshot of a log %s', (_, grow) => {
  const scenario = grow()
  const log = scenario.ledger.entries()
  const hashes = hashesOf(scenario)
  const rootByOffset = new Map(naiveStates(scenario).map(({ offset, root }) => [offset, root]))
  const certifiable = [...rootByOffset.keys()].filter((offset) => offset > 0)
  let whole: Followed & { readonly dump: Record<string, readonly string[]> }

  beforeAll(async () => {
    await using redis = await startRedis()
    const followed = await follow(scenario, redis, { log })
    whole = { ...followed, dump: await dumpOfHead(scenario, redis) }
  })

  it('has the same bytes whatever ingest writes while it is taken', {
    tags: ['snapshots'],
  }, async () => {
    await fc.assert(
      fc.asyncProperty(fc.string(), async (seed) => {
        const below = createSeededIntegers(seed)
        const due = certifiable[below(certifiable.length)] as number
        await using busy = await startRedis()
        const nextCut = () => 1 + below(12)
        const isDue = (offset: number) => offset === due
        const { taken } = await follow(scenario, busy, { log, nextCut, isDue, pause: below(30) })
        await using still = await startRedis()
        const upTo = await follow(scenario, still, { log: log.slice(0, due), isDue })
        const bytes = taken.get(due) as Uint8Array
        expect(sha256Hex(bytes)).toBe(sha256Hex(upTo.taken.get(due) as Uint8Array))
        expect(bytes.byteLength).toBeGreaterThan(1000)
      }),
      { numRuns: cases(2, 40) },
    )
  })

  it('makes a replica that is equal in every key, and continues with equal hashes and roots', {
    tags: ['snapshots'],
  }, async () => {
    await fc.assert(
      fc.asyncProperty(fc.string(), async (seed) => {
        const below = createSeededIntegers(seed)
        const due = certifiable[below(certifiable.length)] as number
        const then = log.slice(0, due)
        await using replayed = await startRedis()
        const { taken } = await follow(scenario, replayed, { log: then, isDue: (at) => at === due })
        await using loaded = await startRedis()
        const start = offered(then, taken.get(due) as Uint8Array, 1 + below(5000))
        await follow(scenario, loaded, { log: then, start })
        expect(await dumpOfHead(scenario, loaded)).toEqual(await dumpOfHead(scenario, replayed))

        const rest = await follow(scenario, loaded, { log, nextCut: () => 1 + below(40) })
        for (const [offset, hash] of rest.hashes)
          expect([offset, hash]).toEqual([offset, hashes[offset]])
        for (const [offset, root] of rest.roots)
          expect([offset, root]).toEqual([offset, rootByOffset.get(offset)])
        expect(rest.hashes.size).toBe(log.length - due)
        expect(await dumpOfHead(scenario, loaded)).toEqual(whole.dump)
      }),
      { numRuns: cases(2, 40) },
    )
  })

  it('is requested again if it breaks off, or does not have its state root', async () => {
    const due = certifiable.at(-1) as number
    const then = log.slice(0, due)
    await using replayed = await startRedis()
    const { taken } = await follow(scenario, replayed, { log: then, isDue: (at) => at === due })
    const whole = taken.get(due) as Uint8Array
    const otherRoot = Uint8Array.from(whole)
    otherRoot[STATE_ROOT_AT] = 1 ^ (whole[STATE_ROOT_AT] as number)
    const given = [whole.subarray(0, 5000), otherRoot, whole]
    let tries = 0
    const { point } = offered(then, whole, 1000)
    const content = {
      async *[Symbol.asyncIterator]() {
        yield* offered(then, given[tries++] as Uint8Array, 1000).content
        if (tries === 1) throw new Error('no node sends the rest')
      },
    }
    await using loaded = await startRedis()
    const problems: string[] = []
    const onProblem = (error: Error) => problems.push(String(error.cause ?? error))
    await follow(scenario, loaded, { log: then, start: { point, content }, onProblem })
    expect([tries, problems]).toEqual([
      3,
      ['Error: no node sends the rest', expect.stringMatching(/have the state root/)],
    ])
    expect(await dumpOfHead(scenario, loaded)).toEqual(await dumpOfHead(scenario, replayed))
  })

  function offered(then: readonly LogEntry[], bytes: Uint8Array, pieceBytes: number): PeerSnapshot {
    const last = then.at(-1) as LogEntry
    const { offset, recordTime } = last
    return {
      point: { offset, recordTime, historyHash: hashes[offset] as string },
      content: (async function* () {
        for (let at = 0; at < bytes.byteLength; at += pieceBytes)
          yield bytes.subarray(at, at + pieceBytes)
      })(),
    }
  }
})

it('has records that end before the batch does in which its offset is', async () => {
  const scenario = new Scenario()
  const { ledger } = scenario
  const actor = scenario.actor('alice')
  const tap = { coinRules: scenario.the(coinRules), receiver: actor.party, amount: 1n }
  scenario.submit(actor, tapCommand(tap), { notAfter: ledger.head().recordTime + 3 })
  ledger.advance(1)
  const due = ledger.head().offset
  ledger.advance(5)
  const log = ledger.entries()
  const isDue = (offset: number) => offset === due
  await using one = await startRedis()
  await using two = await startRedis()
  const whole = await follow(scenario, one, { log, isDue })
  const upTo = await follow(scenario, two, { log: log.slice(0, due), isDue })
  expect(whole.taken.get(due)).toEqual(upTo.taken.get(due))
})

it('has all changes that end at the same time, and asks for no more than 1000 at once', async () => {
  const scenario = new Scenario()
  const { genesis, genesisHash } = scenario.network
  scenario.ledger.advance(1)
  await using redis = await startRedis()
  await follow(scenario, redis, { log: scenario.ledger.entries() })
  const connection = redis.connect()
  try {
    const { head } = (await loadHeadState(connection)) ?? expect.unreachable('a head is stored')
    const until = head.recordTime + 1
    const count = 2_500
    const commands = createGatheredCommands()
    for (let number = 0; number < count; number++) {
      const id = new Uint8Array(32)
      new DataView(id.buffer).setUint32(0, number)
      const { offset, recordTime } = head
      putChange(commands, id, { offset, recordTime, until, submissionId: 'one of many' })
    }
    const pipeline = connection.pipeline()
    for (const [name, ...args] of commands.take()) pipeline.call(name, ...args.map(toRedis))
    await execute(pipeline)
    await connection.config('RESETSTAT')
    const layout = createLayout({ genesis, genesisHash })
    const bytes = encodeSnapshot({
      store: { redis: connection, layout },
      head: { ...head, genesisHash, stateRoot: '00'.repeat(32) },
      recorder: createChangeRecorder(head.offset, layout.codec),
      genesis,
      signal: new AbortController().signal,
    })
    const reader = createRecordReader()
    const found: number[] = []
    for await (const piece of bytes)
      for (const record of reader.add(piece))
        if (record.kind === 'change' && record.record.until === until)
          found.push(Buffer.from(record.id).readUInt32BE())
    expect(found).toEqual(Array.from({ length: count }, (_, number) => number))
    expect(await connection.info('commandstats')).toContain('cmdstat_hmget:calls=3,')
  } finally {
    connection.disconnect()
  }
})
