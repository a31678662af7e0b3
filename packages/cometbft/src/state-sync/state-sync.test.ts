import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createDirectory, createManualClock, until } from '@quorumscan/testkit'
import { afterEach, expect, it } from 'vitest'
import { VOTE_STATE_FILE } from '../engine-files.ts'
import { createEngineRpc } from '../engine-rpc.ts'
import { createStateSync, type StateSync } from './state-sync.ts'
import type { AnchorReport } from './sync-anchors.ts'

const SECOND = 1000
const blockHash = 'ab'.repeat(32)
const opened: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const close of opened.splice(0).reverse()) await close()
})

/** One of four members, with blocks and votes in its engine; the others report this. */
async function setUp(says: AnchorReport) {
  const { path: directory, ...temporary } = createDirectory()
  opened.push(async () => temporary[Symbol.dispose]())
  const home = join(directory, 'home')
  await mkdir(join(home, 'data/blockstore.db'), { recursive: true })
  await writeFile(join(home, VOTE_STATE_FILE), 'signed')
  const clock = createManualClock()
  let height = 7
  let asked = 0
  let restarts = 0
  let hungName = ''
  const readNames: string[] = []
  const open = async (): Promise<StateSync> => {
    const one = await createStateSync({
      home,
      sockets: join(directory, 's'),
      set: { f: 1 },
      clock,
      members: ['sv-2', 'sv-3', 'sv-4'].map((name) => ({
        node: { name, url: '' },
        nodeId: name,
      })),
      reads: {
        async read({ node: { name } }, { method }) {
          if (method === 'commit') {
            readNames.push(name)
            if (name === hungName) await new Promise(() => {})
            return { result: name }
          }
          asked++
          if (name === 'sv-4') throw new Error('away')
          return { result: says }
        },
      },
      height: () => height,
      restart: () => void restarts++,
      signal: new AbortController().signal,
      onChosen: () => {},
      onProblem: () => {},
    })
    opened.push(async () => {
      await one[Symbol.asyncDispose]()
    })
    return one
  }
  return {
    open,
    home,
    clock,
    /** The members that the engine has asked. */
    reads: readNames,
    hang(name: string) {
      hungName = name
    },
    counts: () => [asked, restarts],
    reach(to: number) {
      height = to
    },
    /** Runs a check each second for so long. */
    async checkFor(one: StateSync, seconds: number) {
      for (let second = 0; second < seconds; second++) {
        await one.check()
        await clock.advance(SECOND)
      }
    },
    kept: async () => (await readdir(join(home, 'data'))).sort(),
  }
}

const pruned: AnchorReport = { earliest: 30, beginnings: [{ height: 50, blockHash }] }

it('does not start while blocks arrive, or while others have the next one', async () => {
  const world = await setUp({ ...pruned, earliest: 8 })
  const one = await world.open()
  for (let height = 1; height < 8; height++) {
    world.reach(height)
    await world.checkFor(one, 5)
  }
  expect(world.counts()).toEqual([0, 0])
  await world.checkFor(one, 100)
  expect([world.counts()[1], one.wantedHeight(), await one.prepare()]).toEqual([0, null, null])
  // A request to each of the three other members every ten seconds.
  expect(world.counts()[0]).toBeLessThanOrEqual(33)
})

it('starts at the anchor of f + 1 members, and keeps only what the engine signed', async () => {
  const world = await setUp(pruned)
  const one = await world.open()
  await world.checkFor(one, 8)
  expect([world.counts(), one.wantedHeight()]).toEqual([[3, 1], 50])
  const begun = await one.prepare()
  expect(begun).toMatchObject({ height: 50, blockHash })
  const { signal } = new AbortController()
  const named = begun?.servers.map(async (socketPath) =>
    createEngineRpc({ socketPath, signal }).call('commit', { height: '50' }),
  )
  expect(await Promise.all(named ?? [])).toEqual(['sv-2', 'sv-3'])
  expect(await world.kept()).toEqual(['priv_validator_state.json'])
  expect(await readFile(join(world.home, VOTE_STATE_FILE), 'utf8')).toBe('signed')
  // Blocks that the engine has fetched since are kept, however often it is started.
  await mkdir(join(world.home, 'data/state.db'))
  expect(await one.prepare()).toMatchObject({ height: 50 })
  const again = await world.open()
  expect(await again.prepare()).toMatchObject({ height: 50 })
  expect(await world.kept()).toContain('state.db')
  world.reach(51)
  expect([again.wantedHeight(), await again.prepare()]).toEqual([null, null])
})

it('waits a minute for the engine, then chooses another anchor', async () => {
  const world = await setUp(pruned)
  const one = await world.open()
  await world.checkFor(one, 8)
  await one.prepare()
  await world.checkFor(one, 55)
  expect(world.counts()).toEqual([3, 1])
  await world.checkFor(one, 10)
  expect(world.counts()).toEqual([6, 2])
})

it('asks those that named the anchor one by one, while the engine does not get there', async () => {
  const world = await setUp(pruned)
  const one = await world.open()
  const { signal } = new AbortController()
  const serversOf = async (start: Awaited<ReturnType<StateSync['prepare']>>) => {
    const asked = start?.servers.map(async (socketPath) =>
      createEngineRpc({ socketPath, signal }).call('commit', { height: '50' }),
    )
    return await Promise.all(asked ?? [])
  }
  await world.checkFor(one, 8)
  const seen: unknown[] = []
  for (let attempt = 0; attempt < 4; attempt++) {
    seen.push(await serversOf(await one.prepare()))
    await world.checkFor(one, 65)
  }
  // The engine takes no less than two servers.
  expect(seen).toEqual([
    ['sv-2', 'sv-3'],
    ['sv-2', 'sv-2'],
    ['sv-3', 'sv-3'],
    ['sv-2', 'sv-2'],
  ])
})

it('replaces a member that hangs, or that another engine answers for, at once and for a minute', async () => {
  const world = await setUp(pruned)
  const one = await world.open()
  await world.checkFor(one, 8)
  const begun = await one.prepare()
  const { signal } = new AbortController()
  const call = async (index: number, height: string) => {
    const socketPath = begun?.servers[index] ?? ''
    const answer = createEngineRpc({ socketPath, signal }).call('commit', { height })
    await until('the request', async () => (world.reads.length > 0 ? true : undefined))
    await world.clock.advance(150)
    return answer
  }
  world.hang('sv-2')
  expect([await call(0, '50'), world.reads.splice(0)]).toEqual(['sv-3', ['sv-2', 'sv-3']])
  expect([await call(0, '51'), world.reads.splice(0)]).toEqual(['sv-3', ['sv-3']])
  await world.clock.advance(60_000)
  expect([await call(0, '52'), world.reads.splice(0)]).toEqual(['sv-3', ['sv-2', 'sv-3']])
})

it('starts with another anchor where it stalls at a block that the others have', async () => {
  const world = await setUp({ ...pruned, earliest: 1 })
  await writeFile(
    join(world.home, 'beginning.json'),
    JSON.stringify({ height: 3, blockHash, members: [] }),
  )
  const one = await world.open()
  await world.checkFor(one, 55)
  expect([world.counts()[1], one.wantedHeight()]).toEqual([0, null])
  await world.checkFor(one, 20)
  expect([world.counts()[1], one.wantedHeight()]).toEqual([1, 50])
})
