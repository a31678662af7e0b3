import { toHex } from '@quorumscan/base'
import type { LogPosition } from '@quorumscan/model'
import { createLogger, createMetrics, type Peer } from '@quorumscan/runtime'
import { toWireOffer } from '@quorumscan/snapshots'
import { createManualClock, createTestNetwork, serve, untilTrue } from '@quorumscan/testkit'
import { encodeSnapshotStatement } from '@quorumscan/verifier'
import { afterEach, describe, expect, it } from 'vitest'
import { trimLogRegularly } from './trimming.ts'

/** A quorum of four is three. */
const network = createTestNetwork()
const HOUR_MICROS = 3_600_000_000
const DAY_SECONDS = 86_400
const DAY_MICROS = 24 * HOUR_MICROS
const opened: AsyncDisposable[] = []
afterEach(async () => {
  for (const one of opened.splice(0).reverse()) await one[Symbol.asyncDispose]()
})

/** A snapshot as nodes list it, with the signatures of these members. */
function snapshot(offset: number, signers: readonly number[], content = 'aa') {
  const offer = {
    offset,
    recordTime: HOUR_MICROS + offset,
    historyHash: 'ab'.repeat(32),
    contentHash: content.repeat(32),
  }
  const statement = encodeSnapshotStatement({ ...offer, genesisHash: network.genesisHash })
  const signatures = signers.map(
    (index) =>
      [`sv-${index + 1}`, toHex(network.scans[index]?.sign(statement) as Uint8Array)] as const,
  )
  return toWireOffer({ ...offer, signatures: new Map(signatures) })
}

type Listed = readonly ReturnType<typeof snapshot>[] | null

/** The position up to which the log is trimmed if nodes list this; null: a node that does not answer. */
async function trimmedTo(
  lists: readonly Listed[],
  {
    names,
    keepSeconds = DAY_SECONDS,
    isFull = false,
  }: { names?: readonly string[]; keepSeconds?: number; isFull?: boolean } = {},
) {
  const asked: LogPosition[] = []
  const nodes = await Promise.all(
    lists.map((list, index) => serveList(list, names?.[index] ?? `sv-${index + 1}`)),
  )
  const clock = createManualClock()
  const metrics = createMetrics({ clock })
  const logger = createLogger({ name: 'test', level: 'silent' })
  opened.push(
    trimLogRegularly(
      { ...network, trust: null, clock, metrics, logger },
      {
        nodes,
        keepSeconds,
        isFull: () => isFull,
        async trim(before) {
          asked.push(before)
          return before.offset === 0 ? null : { offset: before.offset - 1, hash: 'cd'.repeat(32) }
        },
      },
    ),
  )
  await untilTrue('a round', () => asked.length > 0)
  return { before: asked[0], metrics: (await metrics.expose()).text }
}

async function serveList(list: Listed, name: string): Promise<Peer> {
  const server = await serve((_, response) => {
    if (list === null) response.writeHead(503).end()
    else response.end(JSON.stringify({ snapshots: list }))
  })
  opened.push(server)
  return { name, url: server.url }
}

const NOTHING = { offset: 0, recordTime: -DAY_MICROS }

describe('the log is trimmed', () => {
  it('below the newest snapshot that a quorum has, except the period to keep', async () => {
    const [old, all, newer] = [snapshot(10, [0, 1, 2, 3]), snapshot(20, [0, 1, 2]), [0, 1]]
    const two = [snapshot(30, newer), all, old]
    const { before, metrics } = await trimmedTo([two, two, [all, old], [old]])
    expect(before).toEqual({ offset: 20, recordTime: HOUR_MICROS + 20 - DAY_MICROS })
    expect(metrics).toContain('quorumscan_log_first_offset 20')
  })

  it('if each member lists only its own signature, and one does not answer', async () => {
    const own = [0, 1, 2].map((index) => [snapshot(20, [index])])
    expect((await trimmedTo([...own, null])).before).toMatchObject({ offset: 20 })
  })

  it.each([
    [DAY_SECONDS, 3600],
    [60, 60],
  ])('except %d s, of which a full log keeps %d', async (keepSeconds, kept) => {
    const own = [0, 1, 2].map((index) => [snapshot(20, [index])])
    const { before } = await trimmedTo(own, { keepSeconds, isFull: true })
    expect(before).toEqual({ offset: 20, recordTime: HOUR_MICROS + 20 - kept * 1_000_000 })
  })

  const all = snapshot(20, [0, 1, 2, 3])
  it.each<{ what: string; lists: Listed[]; names?: string[] }>([
    { what: 'fewer than a quorum still list it, though all signed it', lists: [[all], [all], []] },
    { what: 'too few members answer', lists: [[all], [all], null, null] },
    {
      what: 'the members signed different contents',
      lists: [
        [snapshot(20, [0])],
        [snapshot(20, [1])],
        [snapshot(20, [2], 'bb')],
        [snapshot(20, [3], 'bb')],
      ],
    },
    {
      what: 'members that did not sign it list it',
      lists: [0, 1, 2].map(() => [snapshot(20, [0, 1])]),
    },
    {
      what: 'one member answers at several addresses',
      lists: [[all], [all], [all]],
      names: ['sv-1', 'sv-2', 'sv-2'],
    },
    { what: 'one member lists it several times', lists: [[all, all, all], [all]] },
    {
      what: 'a signature is for another snapshot',
      lists: [0, 1, 2].map(() => [{ ...snapshot(20, [0, 1, 2]), offset: 25 }]),
    },
  ])('at no offset if $what', async ({ lists, names }) => {
    const { before, metrics } = await trimmedTo(lists, { ...(names && { names }) })
    expect(before).toEqual(NOTHING)
    expect(metrics).toContain('quorumscan_log_first_offset 1')
  })
})
