import { PrivateAddressError } from '@quorumscan/reader'
import { signAddress } from '@quorumscan/testkit'
import { describe, expect, it } from 'vitest'
import { ALICE, createWorld, hung, type ReaderWorld } from './world.ts'

/** Publishes another URL of the node. */
function move(
  world: ReaderWorld,
  index: number,
  options: { readonly url: string; readonly sequence?: number; readonly by?: number },
): void {
  const { name } = world.nodes[index] as ReaderWorld['nodes'][number]
  const { keyPair } = world.nodes[options.by ?? index] as ReaderWorld['nodes'][number]
  const { url, sequence = 2 } = options
  const record = signAddress(keyPair, { genesisHash: world.genesisHash, name, url, sequence })
  for (const node of world.nodes)
    node.records = node.records.map((other) => (other.name === name ? record : other))
}

const urls = (world: ReaderWorld) => world.reader.status().nodes.map((node) => node.url)

describe('addresses', () => {
  it('are learned from one live seed although another one hangs', async () => {
    const world = createWorld()
    world.serve(0, hung)
    const { outcome, ms } = await world.timed(ALICE)
    expect(outcome).toMatchObject({ kind: 'verified' })
    expect(ms).toBeLessThan(20)
  })

  it('that no node returns make reads insufficient', async () => {
    const world = createWorld()
    for (const node of world.nodes) node.records = []
    expect(await world.lookup(ALICE)).toMatchObject({ kind: 'insufficient', reachable: 0 })
  })

  it('are replaced while reads continue', async () => {
    const world = createWorld()
    await world.lookup(ALICE)
    move(world, 3, { url: 'http://127.0.0.1:99' })
    world.serve(3, null)
    world.network.serve('http://127.0.0.1:99', world.honest(3))
    for (let count = 0; count < 20; count++) {
      expect(await world.lookup(ALICE)).toMatchObject({ kind: 'verified' })
      await world.clock.advance(150)
    }
    expect(await world.lookup(ALICE, { threshold: 'all' })).toMatchObject({ kind: 'verified' })
    expect(urls(world)[3]).toBe('http://127.0.0.1:99')
  })

  it('count with the highest sequence, from any node', async () => {
    const world = createWorld()
    await world.lookup(ALICE)
    move(world, 2, { url: 'http://127.0.0.1:77', sequence: 9 })
    await world.clock.run(world.reader.refreshAddresses())
    move(world, 2, { url: 'http://127.0.0.1:66', sequence: 8 })
    await world.clock.run(world.reader.refreshAddresses())
    expect(urls(world)[2]).toBe('http://127.0.0.1:77')
  })

  it('signed by another node or for another network are ignored', async () => {
    const world = createWorld()
    await world.lookup(ALICE)
    move(world, 2, { url: 'http://127.0.0.1:77', by: 0 })
    await world.clock.run(world.reader.refreshAddresses())
    expect(urls(world)[2]).toBe('http://127.0.0.1:3')
    const { keyPair, name } = world.nodes[2] as ReaderWorld['nodes'][number]
    const foreign = signAddress(keyPair, {
      genesisHash: 'ab'.repeat(32),
      name,
      url: 'http://127.0.0.1:77',
      sequence: 5,
    })
    for (const node of world.nodes) node.records = [foreign, ...world.records]
    await world.clock.run(world.reader.refreshAddresses())
    expect(urls(world)[2]).toBe('http://127.0.0.1:3')
  })

  it('are learned although a seed returns malformed lists', async () => {
    const bodies = ['null', '[]', '{"scans":1}', '{"scans":[null,{"scans":[7,{"svName":1}]}]}', 'x']
    for (const body of bodies) {
      const world = createWorld()
      world.serve(0, async (request) =>
        request.path === '/v0/scans'
          ? { status: 200, headers: {}, body: new TextEncoder().encode(body) }
          : world.honest(0)(request),
      )
      expect(await world.lookup(ALICE), body).toMatchObject({ kind: 'verified' })
    }
  })

  it.for([
    [200, 'x'],
    [200, '{}'],
    [404, '{"error":"no such path","code":"ROUTE_NOT_FOUND"}'],
  ] as const)(
    'are not asked of a seed that answers %d %s, for a minute',
    async ([status, text]) => {
      const world = createWorld()
      // While a node fails, addresses are asked every second.
      world.serve(3, null)
      const asked = [0, 0]
      for (const index of [0, 1])
        world.serve(index, async (request) => {
          if (request.path !== '/v0/scans') return world.honest(index)(request)
          asked[index] = (asked[index] ?? 0) + 1
          if (index === 1) return world.honest(index)(request)
          return { status, headers: {}, body: new TextEncoder().encode(text) }
        })
      const readFor = async (seconds: number) => {
        for (let second = 0; second < seconds; second++) {
          world.append()
          expect(await world.lookup(ALICE)).toMatchObject({ kind: 'verified' })
          await world.clock.advance(1000)
        }
      }
      await readFor(30)
      expect(asked[0]).toBe(1)
      expect(asked[1]).toBeGreaterThan(5)
      await readFor(31)
      expect(asked[0]).toBe(2)
    },
  )

  it('are complete 150 ms after a silent seed was asked, which is then not asked for a minute', async () => {
    const world = createWorld()
    let askedCount = 0
    world.serve(0, async (request) => {
      if (request.path !== '/v0/scans') return world.honest(0)(request)
      askedCount++
      return null
    })
    const beganAtMs = world.clock.monotonicMs()
    await world.clock.run(world.reader.refreshAddresses())
    expect(world.clock.monotonicMs() - beganAtMs).toBe(150)
    expect(urls(world)).toEqual(world.urls)
    await world.clock.run(world.reader.refreshAddresses())
    expect(world.clock.monotonicMs() - beganAtMs).toBeLessThan(300)
    const refreshFor = async (seconds: number) => {
      for (let second = 0; second < seconds; second++) {
        await world.clock.run(world.reader.refreshAddresses())
        await world.clock.advance(1000)
      }
    }
    await refreshFor(59)
    expect(askedCount).toBe(1)
    await refreshFor(5)
    expect(askedCount).toBe(2)
  })

  it('are also taken from a seed that is slower than the others, which keeps its place', async () => {
    const world = createWorld({ latencyMs: (url) => (url === 'http://127.0.0.1:1' ? 200 : 1) })
    await world.lookup(ALICE)
    for (let count = 0; count < 3; count++) {
      const sequence = count + 2
      const url = `http://127.0.0.1:7${count}`
      // The fast one withholds it.
      const { records } = world.nodes[1] as ReaderWorld['nodes'][number]
      move(world, 3, { url, sequence })
      for (const node of world.nodes.slice(1)) node.records = records
      await world.clock.run(world.reader.refreshAddresses())
      await world.clock.advance(1000)
      expect(urls(world)[3]).toBe(url)
    }
  })

  it('are asked of a seed that had none if there is no other', async () => {
    const world = createWorld({ reader: { seeds: ['http://127.0.0.1:1'] } })
    let askedCount = 0
    world.network.serve('http://127.0.0.1:1', async () => {
      askedCount++
      return { status: 404, headers: {}, body: new Uint8Array() }
    })
    for (let count = 0; count < 3; count++) {
      await world.lookup(ALICE)
      await world.clock.advance(1000)
    }
    expect(askedCount).toBeGreaterThan(1)
  })

  it('on loopback or a private network are refused and reported unless the caller allows them', async () => {
    const reported: string[] = []
    const onPrivateAddress = ({ name, url }: { name: string; url: string }) =>
      void reported.push(`${name} ${url}`)
    const world = createWorld({ reader: { allowPrivateAddresses: false, onPrivateAddress } })
    for (let count = 0; count < 3; count++) {
      expect(await world.lookup(ALICE)).toMatchObject({ kind: 'insufficient' })
      await world.clock.run(world.reader.refreshAddresses())
    }
    expect(urls(world)).toEqual([null, null, null, null])
    // One report for each node, however often its address is received.
    const all = world.nodes.map(({ name }, index) => `${name} ${world.urls[index]}`)
    expect(reported.sort()).toEqual(all)
    expect(world.reader.status().nodes[0]?.lastError).toContain('is private')
    move(world, 3, { url: 'http://10.0.0.1' })
    await world.clock.run(world.reader.refreshAddresses())
    expect(reported.slice(4)).toEqual([`${world.nodes[3]?.name} http://10.0.0.1`])
  })

  it('whose host resolves to a private network are reported once, with the reason', async () => {
    const reported: string[] = []
    const onPrivateAddress = ({ name }: { name: string }) => void reported.push(name)
    const world = createWorld({ reader: { allowPrivateAddresses: false, onPrivateAddress } })
    for (const [index] of world.nodes.entries()) {
      const url = `https://sv-${index}.example`
      move(world, index, { url })
      world.network.serve(url, () => {
        throw new PrivateAddressError(`sv-${index}.example is on a private address`)
      })
    }
    for (let count = 0; count < 9; count++) {
      expect(await world.lookup(ALICE)).toMatchObject({ kind: 'insufficient' })
      await world.clock.advance(500)
    }
    expect(reported.sort()).toEqual(world.nodes.map(({ name }) => name))
    for (const { lastError } of world.reader.status().nodes)
      expect(lastError).toContain('on a private address')
  })

  it('are learned from the seeds if the store has invalid data or fails', async () => {
    const broken = () => {
      throw new Error('the store failed')
    }
    const loads: (() => unknown)[] = [() => ({}), () => 'text', async () => null, broken]
    for (const load of loads) {
      const addressStore = { load: load as () => Promise<[]>, save: () => {} }
      const world = createWorld({ reader: { addressStore } })
      expect(await world.lookup(ALICE)).toMatchObject({ kind: 'verified' })
    }
  })

  it('are stored, so that a reader starts while its seeds are down', async () => {
    let stored: readonly unknown[] = []
    const addressStore = {
      load: async () => stored as never,
      save: (records: readonly unknown[]) => {
        stored = records
      },
    }
    const first = createWorld({ reader: { addressStore } })
    await first.lookup(ALICE)
    await first.clock.advance(10)
    expect(stored).toHaveLength(4)
    const second = createWorld({ reader: { addressStore, seeds: ['http://127.0.0.1:1234'] } })
    expect(await second.lookup(ALICE)).toMatchObject({ kind: 'verified' })
    const third = createWorld({ reader: { seeds: ['http://127.0.0.1:1234'] } })
    expect(await third.lookup(ALICE)).toMatchObject({ kind: 'insufficient' })
  })

  it('are learned again from a single node after all others have moved', async () => {
    const world = createWorld({ reader: { seeds: ['http://127.0.0.1:1'] } })
    await world.lookup(ALICE)
    // The only seed is down and three nodes move. Only sv-2 keeps its address.
    world.serve(0, null)
    for (const index of [0, 2, 3]) {
      const url = `http://127.0.0.1:${index + 51}`
      move(world, index, { url })
      world.serve(index, null)
      world.network.serve(url, world.honest(index))
    }
    for (let count = 0; count < 15; count++) {
      await world.lookup(ALICE)
      await world.clock.advance(100)
    }
    expect(await world.lookup(ALICE, { threshold: 'all' })).toMatchObject({ kind: 'verified' })
  })

  it('of seeds that are not valid URLs are refused', () => {
    for (const seed of [
      '',
      'sv-1',
      'ftp://a.example',
      'http://a:b@c.example',
      'http://a.example/?x',
    ])
      expect(() => createWorld({ reader: { seeds: [seed] } }), seed).toThrow(/seed/)
  })
})

describe('a node with two addresses', () => {
  it('has one vote', async () => {
    const world = createWorld()
    const lie = (body: string) => body.replaceAll('alice::', 'mallory::')
    await world.lookup(ALICE)
    const liar: typeof hung = async (request) => {
      const reply = await world.honest(0)(request)
      const body = new TextEncoder().encode(lie(new TextDecoder().decode(reply?.body)))
      return reply && { ...reply, body }
    }
    world.serve(0, liar)
    world.network.serve('http://127.0.0.1:88', liar)
    move(world, 0, { url: 'http://127.0.0.1:88' })
    await world.clock.run(world.reader.refreshAddresses())
    world.serve(2, null)
    const outcome = await world.lookup(ALICE)
    expect(outcome).toMatchObject({ kind: 'verified', agreed: ['sv-2', 'sv-4'] })
  })
})
