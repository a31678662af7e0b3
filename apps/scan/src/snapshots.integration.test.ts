/**
 * Nodes that lost their data, or lag too far, start from the state that the others signed.
 *
 * @module-tag rest
 */
import { rm } from 'node:fs/promises'
import { CERTIFIED_MEDIA_TYPE } from '@quorumscan/api'
import { trimLog } from '@quorumscan/log'
import type { RunningApp } from '@quorumscan/server'
import { cases, send, until } from '@quorumscan/testkit'
import { expect, it } from 'vitest'
import { type Network, startNetwork } from './testing/network.ts'

const HOUR_MICROS = 3_600_000_000

type Listed = {
  readonly offset: number
  readonly record_time: number
  readonly content_hash: string
}

it('a node with an empty disk, and one that was down, start from a snapshot of a trimmed log', {
  tags: ['many-cases'],
}, async () => {
  await using network = await startNetwork(4)
  await using nodes = new Nodes(network)
  for (const index of [0, 1, 2, 3]) await nodes.start(index)
  const wallet = await network.createWallet('alice')
  await wallet.pay({ name: 'before.unverified.ns' })
  await nodes.untilFound(0, 'before')
  await nodes.stop(2)

  await network.advance(HOUR_MICROS)
  const snapshots = await Promise.all([0, 1, 3].map((index) => nodes.snapshotOf(index)))
  const [{ offset, content_hash }] = snapshots as [Listed]
  expect(snapshots.map((one) => one.content_hash)).toEqual(snapshots.map(() => content_hash))
  await wallet.pay({ name: 'after.unverified.ns' })
  await nodes.untilFound(0, 'after')
  const redis = { path: network.logRedis.socketPath }
  const before = { offset, recordTime: Number.MAX_SAFE_INTEGER }
  const start = await trimLog({ redis, before, signal: new AbortController().signal })
  expect(start?.offset).toBeGreaterThan(1)

  await nodes.stop(3)
  const admin = network.nodeRedis[3]?.connect()
  await admin?.flushall()
  admin?.disconnect()
  await rm(await nodes.directoryOf(3), { recursive: true })
  await nodes.start(2)
  await nodes.start(3)

  const head = Number((await nodes.get(0, '/livez')).headers.get('x-ledger-head'))
  for (const index of [0, 1, 2, 3]) await nodes.untilReached(index, head)
  for (const label of ['before', 'after', 'unknown']) {
    const answers = await Promise.all(
      [0, 1, 2, 3].map((index) =>
        nodes.get(index, `/v0/ans-entries/by-name/${label}.unverified.ns`, head),
      ),
    )
    const [first] = answers
    for (const answer of answers) {
      expect(answer).toAnswer(label === 'unknown' ? 404 : 200)
      // An error names its request.
      expect(answer.body.entry).toEqual(first?.body.entry)
      expect(answer.headers.get('x-ledger-history-hash')).toBe(
        first?.headers.get('x-ledger-history-hash'),
      )
    }
  }
  for (const index of [2, 3]) {
    const pruned = await nodes.get(index, '/v0/ans-entries?page_size=1', offset - 1)
    expect([pruned.status, pruned.body.code]).toEqual([410, 'OFFSET_PRUNED'])
    // A certificate of all members needs the same roots on all nodes.
    const accept = { accept: CERTIFIED_MEDIA_TYPE }
    const path = `/v0/ans-entries/by-name/before.unverified.ns?signers=all&min_offset=${head}`
    await until(`a certified answer of node ${index}`, async () => {
      const answer = await send(nodes.urlOf(index) + path, { headers: accept })
      return answer.status === 200 ? true : undefined
    })
  }
})

/** Entries of an hour in the log; entries that replicas cannot decode count, too. */
const HOUR_OF_LOAD = Array.from({ length: 50 }, () => new Uint8Array(16_384))
const HOURS = cases(8, 26)
const KEEP_MICROS = 2 * HOUR_MICROS
/** The hours that are kept before a snapshot, and the one after it. */
const HOURS_HELD = 3

it('the memory of the Redis of a trimmed log is bounded during a day of load', {
  tags: ['replicas'],
}, async () => {
  await using network = await startNetwork(1)
  await using nodes = new Nodes(network)
  await nodes.start(0)
  const admin = network.logRedis.connect()
  const redis = { path: network.logRedis.socketPath }
  const usedBytes: number[] = []
  let newest = 0
  for (let hour = 0; hour < HOURS; hour++) {
    for (const bytes of HOUR_OF_LOAD) await network.append(bytes)
    await network.advance(HOUR_MICROS)
    const { offset, record_time } = await nodes.snapshotOf(0, newest)
    newest = offset
    const before = { offset, recordTime: record_time - KEEP_MICROS }
    await trimLog({ redis, before, signal: new AbortController().signal })
    usedBytes.push(Number(/^used_memory:(\d+)/m.exec(await admin.info('memory'))?.[1]))
  }
  admin.disconnect()
  const hourBytes = HOUR_OF_LOAD.reduce((sum, { byteLength }) => sum + byteLength, 0)
  const [first = 0] = usedBytes
  expect(Math.max(...usedBytes)).toBeLessThan(first + HOURS_HELD * hourBytes)
})

class Nodes implements AsyncDisposable {
  readonly #network: Network
  readonly #running = new Map<number, RunningApp>()

  constructor(network: Network) {
    this.#network = network
  }

  directoryOf(index: number): Promise<string> {
    return this.#network.file(`marker-${index}`, '').then((path) => `${path}.snapshots`)
  }

  urlOf(index: number): string {
    return this.#network.peers[index]?.url ?? ''
  }

  /** Resolves when the node is ready. */
  async start(index: number): Promise<void> {
    const node = await this.#network.startNode(index, {
      port: Number(new URL(this.urlOf(index)).port),
      nodes: this.#network.peers,
      snapshotDirectory: await this.directoryOf(index),
    })
    this.#running.set(index, node)
    await until(`node ${index} to be ready`, async () =>
      (await this.get(index, '/readyz')).status === 200 ? true : undefined,
    )
  }

  async stop(index: number): Promise<void> {
    await this.#running.get(index)?.[Symbol.asyncDispose]()
    this.#running.delete(index)
  }

  async get(index: number, path: string, at?: number) {
    const headers = at === undefined ? {} : { 'x-read-at-offset': String(at) }
    return await send(this.urlOf(index) + path, { headers })
  }

  async untilFound(index: number, label: string): Promise<void> {
    await until(`${label} to be found`, async () =>
      (await this.get(index, `/v0/ans-entries/by-name/${label}.unverified.ns`)).status === 200
        ? true
        : undefined,
    )
  }

  /** A node that has just become ready may apply the last entries later than a read waits for them. */
  async untilReached(index: number, offset: number): Promise<void> {
    await until(`node ${index} to reach offset ${offset}`, async () =>
      (await this.get(index, '/v0/ans-entries?page_size=1', offset)).status === 200
        ? true
        : undefined,
    )
  }

  /** The newest snapshot after an offset. */
  snapshotOf(index: number, after = 0): Promise<Listed> {
    return until(`a snapshot of node ${index}`, async () => {
      const { snapshots } = (await this.get(index, '/v0/snapshots')).body as { snapshots: Listed[] }
      return snapshots.find(({ offset }) => offset > after)
    })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const index of [...this.#running.keys()]) await this.stop(index)
  }
}
