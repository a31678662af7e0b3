/** @module-tag rest */
import { sha256Hex } from '@quorumscan/base'
import type { LogEntry, PeerSnapshot } from '@quorumscan/ledger'
import { cases, createSeededIntegers, startRedis } from '@quorumscan/testkit'
import fc from 'fast-check'
import { beforeAll, describe, expect, it } from 'vitest'
import { naiveStates } from '../testing/naive-state.ts'
import { growRandomLog } from '../testing/random-log.ts'
import { hashesOf } from '../testing/replay.ts'
import { dumpOfHead, type Followed, follow, growForgetfulLog } from '../testing/snapshots.ts'

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
