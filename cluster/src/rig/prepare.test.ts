import { readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { assert, createSystemClock, systemRandom, verifySignature } from '@quorumscan/base'
import { VOTE_STATE_FILE, voteStateAt } from '@quorumscan/cometbft'
import { type DataDirectory, dataDirectory } from '@quorumscan/operator'
import { createDirectory, listen } from '@quorumscan/testkit'
import { parseGenesis } from '@quorumscan/verifier'
import { expect, it } from 'vitest'
import { NODE_COUNT_MAX } from './cluster-shape.ts'
import { drawBasePort, portsFrom, usedPorts } from './ports.ts'
import { type PrepareInput, prepareCluster } from './prepare.ts'

const clock = createSystemClock()
const FOUR = { nodeCount: 4, ordering: 'redis' } as const
const LARGEST = { nodeCount: NODE_COUNT_MAX, ordering: 'cometbft' } as const

function temporaryDirectory() {
  const { path, ...temporary } = createDirectory()
  return { ...temporary, directory: dataDirectory(join(path, 'data')) }
}

/** What a cluster has at each start. */
async function prepare(directory: DataDirectory, wishes: Partial<PrepareInput> = {}) {
  const { hasDrawnPorts: _, ...prepared } = await prepareCluster({
    directory,
    nodeCount: null,
    ordering: null,
    basePort: 0,
    overrides: null,
    clock,
    ...wishes,
  })
  return prepared
}

it('stores genesis, keys, secrets and ports between starts', async () => {
  using temporary = temporaryDirectory()
  const first = await prepare(temporary.directory)
  const second = await prepare(temporary.directory, { basePort: null })
  expect(second).toEqual(first)
  expect(first.nodeNames).toEqual(['sv-1', 'sv-2', 'sv-3', 'sv-4'])
  expect(parseGenesis(first.genesis)).toEqual(first.genesis)
})

it('lets no two clusters share a genesis hash', async () => {
  using one = temporaryDirectory()
  using other = temporaryDirectory()
  const hashes = [await prepare(one.directory), await prepare(other.directory)].map(
    (prepared) => prepared.genesisHash,
  )
  expect(hashes[0]).not.toBe(hashes[1])
})

it('lets only the owner read files, except the public files of members', async () => {
  using temporary = temporaryDirectory()
  await prepare(temporary.directory)
  const root = temporary.directory.path
  for (const entry of ['.', ...(await readdir(root, { recursive: true }))]) {
    const { mode } = await stat(join(root, entry))
    expect(mode & 0o077, entry).toBe(entry.endsWith('.member.json') ? 0o044 : 0)
  }
})

it('leaves no temporary file behind', async () => {
  using temporary = temporaryDirectory()
  await Promise.all([prepare(temporary.directory), prepare(temporary.directory)])
  const files = await readdir(temporary.directory.path, { recursive: true })
  expect(files.filter((file) => file.endsWith('.tmp'))).toEqual([])
})

it('has one result when two starts prepare at the same time', async () => {
  using temporary = temporaryDirectory()
  const [one, other] = await Promise.all([
    prepare(temporary.directory),
    prepare(temporary.directory),
  ])
  expect(one).toEqual(other)
})

it('refuses another size than the one that the genesis fixes', async () => {
  using temporary = temporaryDirectory()
  await prepare(temporary.directory, { nodeCount: 2 })
  await expect(prepare(temporary.directory, { nodeCount: 4 })).rejects.toThrow('cluster of 2 nodes')
})

it('refuses a directory of an older layout with what to do, and does not change it', async () => {
  using temporary = temporaryDirectory()
  await prepare(temporary.directory)
  const { clusterFile } = temporary.directory
  const older = JSON.stringify({ version: 1, nodeCount: 4, basePort: 4600 })
  await writeFile(clusterFile, older)
  await expect(prepare(temporary.directory)).rejects.toThrow(
    /holds a cluster of layout 1, .* another --data-dir/,
  )
  expect(await readFile(clusterFile, 'utf8')).toBe(older)
})

it('gives each member a voting key and a public key, and records once that it has signed nothing', async () => {
  using temporary = temporaryDirectory()
  const { directory } = temporary
  const first = await prepare(directory, { ordering: 'cometbft' })
  const { ordering } = first.genesis
  assert(ordering.driver === 'cometbft', 'the ordering that was asked for')
  expect(ordering.validators.map(({ name }) => name)).toEqual(first.nodeNames)
  const keys = ordering.validators.flatMap(({ key, nodeId }) => [key, nodeId])
  expect(new Set([...keys, first.followerId]).size).toBe(9)

  const stateOf = (name: string) => join(directory.engineDirectory(name), VOTE_STATE_FILE)
  expect(await readFile(stateOf('sv-1'), 'utf8')).toBe(voteStateAt(0))
  // A member that has lost it must not start as one that has signed nothing.
  await rm(directory.engineDirectory('sv-1'), { recursive: true })
  expect(await prepare(directory, { basePort: null })).toEqual(first)
  await expect(stat(stateOf('sv-1'))).rejects.toThrow('ENOENT')
})

it.each([
  ['redis', 'cometbft'],
  ['cometbft', 'redis'],
] as const)('refuses to order by another than %s once that was chosen', async (first, other) => {
  using temporary = temporaryDirectory()
  await prepare(temporary.directory, { ordering: first })
  await expect(prepare(temporary.directory, { ordering: other })).rejects.toThrow(
    `a cluster with --ordering ${first}, which its genesis fixes`,
  )
})

it('treats a directory without an ordering as one with one synchronizer', async () => {
  using temporary = temporaryDirectory()
  const { clusterFile } = temporary.directory
  const first = await prepare(temporary.directory)
  const { ordering, ...older } = JSON.parse(await readFile(clusterFile, 'utf8'))
  expect(ordering).toBe('redis')
  await writeFile(clusterFile, JSON.stringify(older))
  expect(await prepare(temporary.directory, { basePort: null, ordering: 'redis' })).toEqual(first)
})

it('accepts other rules only for a new cluster', async () => {
  using temporary = temporaryDirectory()
  const overrides = { names: { entryLifetimeMicros: 5_000_000 }, devnet: false }
  const { genesis } = await prepare(temporary.directory, { overrides })
  expect(genesis.names.entryLifetimeMicros).toBe(5_000_000)
  expect(genesis.names.renewalDurationMicros).toBe(5_000_000) // Its default is longer.
  expect(genesis.devnet).toBe(false)
  await expect(prepare(temporary.directory, { overrides })).rejects.toThrow('already has a genesis')
})

it.each([
  [{ names: { entryFeeUsd: '1' } }, 'names.entryFeeUsd'],
  [{ coin: { price: '1.0000000000' } }, '"coin.price"'],
  [{ dso: 'x' }, '"dso"'],
])('names what is wrong with the rules %j', async (overrides, want) => {
  using temporary = temporaryDirectory()
  const attempt = prepare(temporary.directory, { overrides: overrides as object })
  await expect(attempt).rejects.toThrow(want)
})

it('makes no key for the operator party: the party names no existing key', async () => {
  using temporary = temporaryDirectory()
  const { genesis } = await prepare(temporary.directory)
  const digits = genesis.dso.slice('DSO::1220'.length)
  expect(digits).toMatch(/^[0-9a-f]{64}$/)
  const keys = genesis.nodes.flatMap((node) => [node.scanKey, node.operatorKey])
  expect(keys).not.toContain(digits)
  const message = new Uint8Array(1)
  expect(verifySignature({ publicKey: digits, message, signature: new Uint8Array(64) })).toBe(false)
})

it('takes the next free hundred by default, so that two clusters can run on one machine', async () => {
  const first = await drawBasePort(null, FOUR)
  expect([first >= 4600, first % 100]).toEqual([true, 0])
  await using _server = await listen(() => {}, { at: portsFrom(first, 4).validator })
  expect(await drawBasePort(null, FOUR)).toBeGreaterThan(first)
})

it('draws blocks that are equal or share no port', async () => {
  const length = Math.max(...usedPorts(portsFrom(0, NODE_COUNT_MAX), 'cometbft')) + 1
  const bases: number[] = []
  for (const first of [0, 0.001, 0.004, 0.5, 0.9999]) {
    // If another program uses that block, the next ones are random.
    const fractions = [first]
    const fraction = () => fractions.pop() ?? systemRandom.fraction()
    bases.push(await drawBasePort(0, LARGEST, { ...systemRandom, fraction }))
  }
  for (const one of bases)
    for (const other of bases)
      expect(one === other || Math.abs(one - other) >= length, `${one}, ${other}`).toBe(true)
})

it('names a port that is in use when ports were chosen', async () => {
  const basePort = await drawBasePort(0, FOUR)
  {
    await using _server = await listen(() => {}, { at: basePort + 13 })
    await expect(drawBasePort(basePort, FOUR)).rejects.toThrow(`port ${basePort + 13} is in use`)
  }
  expect(await drawBasePort(basePort, FOUR)).toBe(basePort)
  await expect(drawBasePort(65_530, FOUR)).rejects.toThrow('choose a port from 1 to')
})
