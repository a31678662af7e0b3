/** @module-tag thorough */
import { mkdir, readdir, truncate, writeFile } from 'node:fs/promises'
import type { ServerResponse } from 'node:http'
import { join } from 'node:path'
import { type Clock, concatBytes, createSystemClock, toHex } from '@quorumscan/base'
import type { Peer } from '@quorumscan/runtime'
import { createLogger, createMetrics, createPeerClient } from '@quorumscan/runtime'
import {
  createDirectory,
  createManualClock,
  createTestNetwork,
  createTickingClock,
  serve,
} from '@quorumscan/testkit'
import { it as base } from '@quorumscan/testkit/fixtures'
import fc from 'fast-check'
import { describe, expect } from 'vitest'
import { openSnapshotFiles, type SnapshotFiles, type StoredSnapshot } from './snapshot-files.ts'
import {
  encodeManifest,
  PIECE_BYTES,
  readOffers,
  statementOf,
  toWireOffer,
} from './snapshot-offer.ts'
import { createSnapshotStore, type SnapshotStore } from './snapshots.ts'

const network = createTestNetwork()
const { genesis, genesisHash } = network
const clock = createSystemClock()
const never = new AbortController().signal
const point = (offset: number) => ({
  offset,
  recordTime: 1_700_000_000_000_000 + offset,
  historyHash: 'ab'.repeat(32),
})
/** Two pieces and a half. */
const CONTENT = new Uint8Array(2.5 * PIECE_BYTES).map((_, index) => (index * 7) ^ (index >> 9))

async function* inPieces(bytes: Uint8Array, size = 300_000) {
  for (let at = 0; at < bytes.byteLength; at += size) yield bytes.subarray(at, at + size)
}

const it = base
  .extend(
    'newDirectory',
    ({ resources }) =>
      () =>
        resources.opened(createDirectory()).path,
  )
  .extend(
    'storeOf',
    ({ resources, newDirectory }) =>
      async (
        index: number | null,
        options: {
          readonly peers?: readonly Peer[]
          readonly directory?: string
          readonly clock?: Clock
        } = {},
      ): Promise<SnapshotStore> => {
        const client = createPeerClient({ clock: options.clock ?? clock })
        resources.opened(client)
        const store = await createSnapshotStore({
          genesis,
          genesisHash,
          client,
          own:
            index === null
              ? null
              : {
                  name: `sv-${index + 1}`,
                  sign: (statement) =>
                    (network.scans[index] as (typeof network.scans)[number]).sign(statement),
                  directory: options.directory ?? newDirectory(),
                },
          peers: options.peers ?? [],
          clock: options.clock ?? clock,
          logger: createLogger({ name: 'test', level: 'silent' }),
          metrics: createMetrics({ clock }),
        })
        resources.opened(store)
        return store
      },
  )
  /** The answers of a node, unless the test replaces them. */
  .extend(
    'serveStore',
    ({ resources }) =>
      async (
        store: SnapshotStore,
        index: number,
        put: (body: Uint8Array, path: string) => Uint8Array = (body) => body,
      ): Promise<Peer> => {
        const server = await serve(async (request, response) => {
          const path = request.url ?? ''
          const [, offset, piece] =
            /^\/v0\/snapshots\/(\d+)\/(?:manifest|pieces\/(\d+))$/.exec(path) ?? []
          const held = store.stored().find((one) => one.offset === Number(offset))
          const body =
            offset === undefined
              ? Buffer.from(JSON.stringify({ snapshots: store.stored().map(toWireOffer) }))
              : piece === undefined
                ? held && encodeManifest(held.manifest)
                : await store.piece(Number(offset), Number(piece))
          if (body == null) response.writeHead(404).end()
          else response.end(put(body, path))
        })
        resources.opened(server)
        return { name: `sv-${index + 1}`, url: server.url }
      },
  )
  /** This number of members that took the same snapshot. */
  .extend(
    'members',
    ({ storeOf }) =>
      async (count: number, content = CONTENT): Promise<SnapshotStore[]> => {
        const stores = await Promise.all(
          Array.from({ length: count }, (_, index) => storeOf(index)),
        )
        for (const store of stores) await store.take?.(point(1024), inPieces(content))
        return stores
      },
  )

async function read(content: AsyncIterable<Uint8Array>): Promise<Uint8Array> {
  const pieces: Uint8Array[] = []
  for await (const piece of content) pieces.push(piece)
  return concatBytes(pieces)
}

describe('a snapshot of others', () => {
  it('is found once f + 1 members signed the same, and not before', async ({
    members,
    serveStore,
    storeOf,
  }) => {
    const [one, two] = (await members(2)) as [SnapshotStore, SnapshotStore]
    const peers = [await serveStore(one, 0), await serveStore(two, 1)]
    const alone = await storeOf(null, { peers: peers.slice(0, 1) })
    expect(await alone.find(0, never)).toBeNull()
    const both = await storeOf(null, { peers })
    const found = await both.find(0, never)
    expect(found?.point).toEqual(point(1024))
    expect(Buffer.compare(await read(found?.content ?? inPieces(CONTENT)), CONTENT)).toBe(0)
    expect(await both.find(1024, never)).toBeNull()
  })

  it('is not found where members signed different contents', async ({ storeOf, serveStore }) => {
    const one = await storeOf(0)
    const two = await storeOf(1)
    await one.take?.(point(1024), inPieces(CONTENT))
    await two.take?.(point(1024), inPieces(CONTENT.subarray(1)))
    const peers = [await serveStore(one, 0), await serveStore(two, 1)]
    expect(await (await storeOf(null, { peers })).find(0, never)).toBeNull()
  })

  it('is read from one source that lists the signatures of others', async ({
    members,
    serveStore,
    storeOf,
  }) => {
    const [one, two] = (await members(2)) as [SnapshotStore, SnapshotStore]
    const listed = [...one.stored(), ...two.stored()].map(toWireOffer)
    const [first, second] = listed as [(typeof listed)[number], (typeof listed)[number]]
    const offer = { ...first, signatures: [...first.signatures, ...second.signatures] }
    const relay = await serveStore(one, 2, (body, path) =>
      path === '/v0/snapshots' ? Buffer.from(JSON.stringify({ snapshots: [offer] })) : body,
    )
    const found = await (await storeOf(null, { peers: [relay] })).find(0, never)
    expect(Buffer.compare(await read(found?.content ?? inPieces(CONTENT)), CONTENT)).toBe(0)
  })

  it('is read completely from the members that have it, whatever one of them changes, omits or adds', async ({
    members,
    serveStore,
    storeOf,
  }) => {
    const [one, two] = (await members(2)) as [SnapshotStore, SnapshotStore]
    let put = (body: Uint8Array, _path: string) => body
    const peers = [
      await serveStore(one, 0, (body, path) => put(body, path)),
      await serveStore(two, 1),
    ]
    const store = await storeOf(null, { peers })
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom('manifest', 'pieces'),
        fc.constantFrom('change', 'cut', 'add'),
        fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
        fc.integer({ min: 1, max: 255 }),
        async (of, how, at, by) => {
          put = (body, path) => {
            if (!path.includes(of)) return body
            if (how === 'cut') return body.subarray(0, Math.floor(at * body.byteLength))
            if (how === 'add') return concatBytes([body, Uint8Array.of(by)])
            const changed = new Uint8Array(body)
            const index = Math.floor(at * body.byteLength)
            changed[index] = (changed[index] ?? 0) ^ by
            return changed
          }
          const found = await store.find(0, never)
          expect(Buffer.compare(await read(found?.content ?? inPieces(CONTENT, 1)), CONTENT)).toBe(
            0,
          )
        },
      ),
      { numRuns: 20 },
    )
  })

  it('is refused if no member sends the signed content', async ({
    members,
    serveStore,
    storeOf,
  }) => {
    const stores = await members(2)
    const change = (body: Uint8Array, path: string) =>
      path.endsWith('/pieces/2') ? body.map((byte, index) => (index === 9 ? byte ^ 1 : byte)) : body
    const peers = await Promise.all(stores.map((store, index) => serveStore(store, index, change)))
    const found = await (await storeOf(null, { peers })).find(0, never)
    await expect(read(found?.content ?? inPieces(CONTENT))).rejects.toThrow(
      'no member returned a valid pieces/2',
    )
  })

  it.for<[string, (response: ServerResponse) => void]>([
    ['garbage', (response) => response.end('garbage')],
    ['404', (response) => response.writeHead(404).end()],
    ['nothing', (response) => response.destroy()],
  ])(
    'is an older one of other members while the only one that lists the newest returns %s',
    async ([, lie], { members, serveStore, storeOf, resources }) => {
      const [one, two] = (await members(2)) as [SnapshotStore, SnapshotStore]
      const newer = await Promise.all([2, 3].map((index) => storeOf(index)))
      for (const store of newer) await store.take?.(point(2048), inPieces(CONTENT))
      const [third, fourth] = newer.map((store) => store.stored().map(toWireOffer)[0])
      const signatures = [...(third?.signatures ?? []), ...(fourth?.signatures ?? [])]
      let askedCount = 0
      const liar = resources.opened(
        await serve(({ url }, response) => {
          if (url === '/v0/snapshots')
            return void response.end(JSON.stringify({ snapshots: [{ ...third, signatures }] }))
          askedCount++
          lie(response)
        }),
      )
      const manual = createManualClock()
      const store = await storeOf(null, {
        peers: [
          { name: 'sv-3', url: liar.url },
          await serveStore(one, 0),
          await serveStore(two, 1),
        ],
        clock: manual,
      })
      const newest = await store.find(0, never)
      expect(newest?.point).toEqual(point(2048))
      await expect(read(newest?.content ?? inPieces(CONTENT))).rejects.toThrow('no member returned')
      const older = await store.find(0, never)
      expect(older?.point).toEqual(point(1024))
      expect(Buffer.compare(await read(older?.content ?? inPieces(CONTENT, 1)), CONTENT)).toBe(0)
      expect(askedCount).toBe(1)
      // It is the only one that may have a newer one.
      expect((await store.find(1024, never))?.point).toEqual(point(2048))
      await manual.advance(60_000)
      expect((await store.find(0, never))?.point).toEqual(point(2048))
    },
  )

  it('is not asked for at a member that returned something else, for a minute', async ({
    members,
    serveStore,
    storeOf,
  }) => {
    const [one, two] = (await members(2)) as [SnapshotStore, SnapshotStore]
    const asked: string[] = []
    const manual = createManualClock()
    const peers = [
      await serveStore(one, 0, (body, path) => {
        if (path === '/v0/snapshots') return body
        asked.push(path)
        return body.subarray(1)
      }),
      await serveStore(two, 1),
    ]
    const store = await storeOf(null, { peers, clock: manual })
    for (const askedCount of [1, 1]) {
      const found = await store.find(0, never)
      expect(Buffer.compare(await read(found?.content ?? inPieces(CONTENT, 1)), CONTENT)).toBe(0)
      expect(asked.length).toBe(askedCount)
    }
    await manual.advance(60_000)
    for await (const _piece of (await store.find(0, never))?.content ?? []);
    expect(asked.length).toBe(2)
  })

  it.for<[string, { readonly served: readonly string[]; readonly share: number }]>([
    ['nothing but its list', { served: ['list'], share: 0 }],
    ['half of the manifest', { served: ['list'], share: 0.5 }],
    ['the manifest and no piece', { served: ['list', 'manifest'], share: 0 }],
    ['the manifest and halves of pieces', { served: ['list', 'manifest'], share: 0.5 }],
    ['no list', { served: [], share: 0 }],
  ])(
    'is not waited for at a member that sends %s, which loses its place',
    async ([, { served, share }], { members, serveStore, storeOf, resources }) => {
      const [one, two, three] = (await members(3)) as [SnapshotStore, SnapshotStore, SnapshotStore]
      const asked: string[] = []
      const manifest = encodeManifest((one.stored()[0] as StoredSnapshot).manifest)
      const hung = resources.opened(
        await serve(async ({ url = '' }, response) => {
          const part = url.endsWith('manifest')
            ? 'manifest'
            : url.includes('pieces')
              ? 'piece'
              : 'list'
          if (served.includes(part))
            return void response.end(
              part === 'manifest'
                ? manifest
                : JSON.stringify({ snapshots: one.stored().map(toWireOffer) }),
            )
          asked.push(url)
          if (share > 0) response.setHeader('content-length', PIECE_BYTES)
          if (share > 0) response.write(CONTENT.subarray(0, share * PIECE_BYTES))
        }),
      )
      const ticking = createTickingClock()
      const peers = [
        { name: 'sv-1', url: hung.url },
        await serveStore(two, 1),
        await serveStore(three, 2),
      ]
      const store = await storeOf(null, { peers, clock: ticking })
      for (let round = 0; round < 2; round++) {
        const found = await store.find(0, never)
        expect(Buffer.compare(await read(found?.content ?? inPieces(CONTENT, 1)), CONTENT)).toBe(0)
      }
      // No time limit was reached: 2 s for a list, 20 s for a piece.
      expect([asked.length, ticking.monotonicMs() < 2_000]).toEqual([1, true])
    },
  )

  it.for<[string, (response: ServerResponse) => void]>([
    ['garbage', (response) => response.end('garbage')],
    ['no list', (response) => response.end('{}')],
    ['404', (response) => response.writeHead(404).end()],
    ['nothing', (response) => response.destroy()],
  ])(
    'is not looked for again, for a minute, at a member that answers %s, while others list one',
    async ([, lie], { members, serveStore, storeOf, resources }) => {
      const [one, two] = (await members(2)) as [SnapshotStore, SnapshotStore]
      let askedCount = 0
      const liar = resources.opened(
        await serve((_request, response) => {
          askedCount++
          lie(response)
        }),
      )
      const manual = createManualClock()
      const peers = [
        { name: 'sv-3', url: liar.url },
        await serveStore(one, 0),
        await serveStore(two, 1),
      ]
      const store = await storeOf(null, { peers, clock: manual })
      for (const count of [1, 1]) {
        expect((await store.find(0, never))?.point).toEqual(point(1024))
        expect(askedCount).toBe(count)
      }
      await manual.advance(60_000)
      await store.find(0, never)
      expect(askedCount).toBe(2)
    },
  )

  it('is looked for at all members, also at those that lost their place, while others list none', async ({
    members,
    serveStore,
    storeOf,
    resources,
  }) => {
    const [one, two] = (await members(2)) as [SnapshotStore, SnapshotStore]
    let body = 'garbage'
    const listed = [...one.stored(), ...two.stored()].map(toWireOffer)
    const signatures = listed.flatMap((offer) => offer.signatures)
    const late = resources.opened(await serve((_request, response) => void response.end(body)))
    const peers = [{ name: 'sv-1', url: late.url }, await serveStore(await storeOf(2), 2)]
    const store = await storeOf(null, { peers, clock: createManualClock() })
    expect(await store.find(0, never)).toBeNull()
    body = JSON.stringify({ snapshots: [{ ...listed[0], signatures }] })
    expect((await store.find(0, never))?.point).toEqual(point(1024))
  })

  it('counts no member that did not sign the listed snapshot', async ({ members }) => {
    const [one] = (await members(1)) as [SnapshotStore]
    const [held] = one.stored()
    const wire = toWireOffer(held as NonNullable<typeof held>)
    const [mine] = wire.signatures
    const offersOf = (offer: object) =>
      readOffers(Buffer.from(JSON.stringify({ snapshots: [offer] })), network)
    const other = { name: 'sv-2', signature: mine?.signature }
    for (const lie of [
      { ...wire, offset: 1025 },
      { ...wire, record_time: 7 },
      { ...wire, history_hash: 'cd'.repeat(32) },
      { ...wire, content_hash: 'cd'.repeat(32) },
      { ...wire, signatures: [other] },
      { ...wire, signatures: [{ name: 'sv-9', signature: mine?.signature }] },
    ])
      expect(offersOf(lie)?.[0]?.signatures.size).toBe(0)
    expect(offersOf({ ...wire, signatures: [mine, mine, other] })?.[0]?.signatures.size).toBe(1)
    for (const none of [null, 7, {}, { ...wire, offset: -1 }, { ...wire, signatures: null }])
      expect(offersOf(none as object)).toEqual([])
  })
})

describe('the snapshots of a node', () => {
  const heldBy = (files: SnapshotFiles) => files.stored().map(({ offset }) => offset)

  it('remain after a restart if they were finished', async ({ newDirectory, storeOf }) => {
    const own = newDirectory()
    const store = await storeOf(0, { directory: own })
    await store.take?.(point(1024), inPieces(CONTENT))
    await writeFile(join(own, '2048.snapshot'), 'half of it')
    await writeFile(join(own, '4096.json'), '{"snapshots":[')
    const files = await openSnapshotFiles(own, network)
    expect(heldBy(files)).toEqual([1024])
    expect((await readdir(own)).sort()).toEqual(['1024.json', '1024.snapshot'])
    expect(toHex((await files.piece(1024, 2)) ?? CONTENT)).toBe(
      toHex(CONTENT.subarray(2 * PIECE_BYTES)),
    )
    expect(await files.piece(1024, 3)).toBeNull()
    expect(await files.piece(2048, 0)).toBeNull()
  })

  it('are stored next to other files and directories without changing them', async ({
    newDirectory,
    storeOf,
  }) => {
    const own = newDirectory()
    const store = await storeOf(0, { directory: own })
    await store.take?.(point(1024), inPieces(CONTENT))
    const foreign = ['notes.txt', '2048', '2048.snapshot.bak', '02048.json', '4096-copy.snapshot']
    for (const name of foreign) await writeFile(join(own, name), 'of the operator')
    for (const name of ['lost+found', '8192.json', '8192.snapshot']) await mkdir(join(own, name))
    for (const name of ['1024.draft', '1024.json.0123456789ab.tmp'])
      await writeFile(join(own, name), 'half of it')
    const files = await openSnapshotFiles(own, network)
    expect(heldBy(files)).toEqual([1024])
    const kept = ['1024.json', '1024.snapshot', '8192.json', '8192.snapshot', 'lost+found']
    expect((await readdir(own)).sort()).toEqual([...foreign, ...kept].sort())
  })

  it('are dropped when their content is damaged', async ({ newDirectory, storeOf }) => {
    const own = newDirectory()
    const store = await storeOf(0, { directory: own })
    await store.take?.(point(1024), inPieces(CONTENT))
    await truncate(join(own, '1024.snapshot'), CONTENT.byteLength - 1)
    expect(await store.piece(1024, 1)).not.toBeNull()
    expect(await store.piece(1024, 2)).toBeNull()
    expect(store.stored()).toEqual([])
  })

  it('are the newest two, and the newest that others confirm', async ({ newDirectory }) => {
    const files = await openSnapshotFiles(newDirectory(), network)
    for (const offset of [1, 2, 3, 4, 5]) {
      const written = await files.write(point(offset), inPieces(CONTENT.subarray(0, 10)))
      const signers = offset === 2 ? [0, 1] : [0]
      const sign = (index: number) =>
        toHex(network.scans[index]?.sign(statementOf(written, network)) ?? new Uint8Array())
      const signatures = new Map(signers.map((index) => [`sv-${index + 1}`, sign(index)]))
      await files.store({ ...written, signatures })
    }
    expect(heldBy(files)).toEqual([5, 4, 2])
  })

  it('are not written where less than 1 GiB would be left', async ({ newDirectory }) => {
    const free = { bytes: 2 ** 30 }
    const files = await openSnapshotFiles(newDirectory(), network, async () => free.bytes)
    const write = (offset: number) => files.write(point(offset), inPieces(CONTENT))
    await files.store(await write(1024))
    // Twice the largest.
    await expect(write(2048)).rejects.toThrow('too little room')
    free.bytes += 2 * CONTENT.byteLength
    await write(2048)
    free.bytes--
    await expect(write(4096)).rejects.toThrow('too little room')
  })

  it('are taken once for an offset, and not if their content fails', async ({
    newDirectory,
    storeOf,
  }) => {
    const own = newDirectory()
    const store = await storeOf(0, { directory: own })
    const broken = (async function* () {
      yield CONTENT
      throw new Error('the state moved on')
    })()
    await expect(store.take?.(point(1024), broken)).rejects.toThrow('the state moved on')
    expect(await readdir(own)).toEqual([])
    await store.take?.(point(2048), inPieces(CONTENT))
    const [first] = store.stored()
    await store.take?.(point(2048), inPieces(CONTENT.subarray(1)))
    await store.take?.(point(1024), inPieces(CONTENT))
    expect(store.stored()).toEqual([first])
  })
})
