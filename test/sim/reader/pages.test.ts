import { type Decided, entriesBytesMax, type ReadRequest } from '@quorumscan/reader'
import { describe, expect, it } from 'vitest'
import { ALICE, answerOf, createWorld, hung, untilSample } from './world.ts'

const names = Array.from(
  { length: 25 },
  (_, index) => `n${String(index).padStart(2, '0')}.unverified.ns`,
)

function page(token: string | null): ReadRequest {
  const query = `name_prefix=n&page_size=10${token === null ? '' : `&page_token=${token}`}`
  return {
    operation: 'listEntries',
    parameters: { name_prefix: 'n', page_size: 10, page_token: token },
    method: 'GET',
    path: `/v0/ans-entries?${query}`,
    body: null,
    bytesMax: entriesBytesMax(10),
    pin: token === null ? 'reader' : 'request',
  }
}

type Page = { entries: { name: string }[]; next_page_token: string | null }

describe('a read of pages', () => {
  it('is at one offset although the log grows', async () => {
    const { reader, clock, append } = createWorld()
    append(names)
    const seen: string[] = []
    const offsets: number[] = []
    for (let token: string | null = null, first = true; first || token !== null; first = false) {
      const outcome = (await clock.run(reader.read(page(token)))) as Decided
      expect(outcome.kind).toBe('verified')
      const { entries, next_page_token } = answerOf(outcome) as Page
      seen.push(...entries.map(({ name }) => name))
      offsets.push(outcome.offset)
      token = next_page_token
      append([`n99${seen.length}.unverified.ns`])
      await clock.advance(40_000) // Only the first page has a maximum age.
    }
    expect(seen).toEqual(names)
    expect(new Set(offsets).size).toBe(1)
  })

  it('neither raises nor respects the read floor after its first page (D-39)', async () => {
    const { reader, clock, append, lookup } = createWorld()
    append(names)
    const first = answerOf(await clock.run(reader.read(page(null)))) as Page
    append()
    await lookup(ALICE, { minOffset: 5 })
    expect(reader.status().floor).toBe(5)
    expect(await clock.run(reader.read(page(first.next_page_token)))).toMatchObject({
      kind: 'verified',
      offset: 4,
    })
    expect(reader.status().floor).toBe(5)
  })

  it('does not accept a body that violates the schema', async () => {
    const { reader, clock } = createWorld()
    const isValid = (body: unknown) => typeof body === 'object' && 'nothing' in (body as object)
    expect(await clock.run(reader.read({ ...page(null), isValid }))).toMatchObject({
      kind: 'insufficient',
    })
  })

  it.each([
    ['brackets', (bytesMax: number) => `{"entries":[${'[],'.repeat((bytesMax - 20) / 3)}[]]}`],
    ['depth', (bytesMax: number) => `${'['.repeat(bytesMax / 2)}${']'.repeat(bytesMax / 2)}`],
  ])('parses only a body that enough nodes agree on, not %s of one node', async (_, lie) => {
    const { reader, clock, append, serve, honest, lookup } = createWorld({
      order: 'genesis',
      latencyMs: (url) => (url.endsWith('1') ? 1 : 10),
    })
    append(names)
    await lookup(ALICE, { minOffset: 4 })
    serve(0, async (request) => {
      const reply = await honest(0)(request)
      return reply && { ...reply, body: new TextEncoder().encode(lie(request.bytesMax)) }
    })
    const parsed: unknown[] = []
    const isValid = (body: unknown) => parsed.push(body) > 0
    const outcome = (await clock.run(reader.read({ ...page(null), isValid }))) as Decided
    expect(outcome).toMatchObject({ kind: 'verified', dissented: ['sv-1'] })
    expect(parsed).toEqual([answerOf(outcome)])
  })

  it('limits the bytes of other nodes to the size of the decided answer', async () => {
    const world = createWorld({ latencyMs: (url) => (url.endsWith('1') ? 40 : 1) })
    const { reader, clock, append, serve, honest, lookup } = world
    append(names)
    await lookup(ALICE, { minOffset: 4 })
    const wanted: (number | undefined)[] = []
    serve(0, (request) => {
      if (request.path.includes('page_size')) wanted.push(request.bytesWanted?.())
      return honest(0)(request)
    })
    await clock.run(reader.read(page(null), { threshold: 'all' }))
    await untilSample(world)
    const { answer } = (await clock.run(reader.read(page(null)))) as Decided
    await clock.advance(100)
    expect(wanted).toEqual([entriesBytesMax(10), answer.byteLength])
  })

  it('is refused while the waiting reads reach the byte limit of a node', async () => {
    const { reader, clock, serve } = createWorld()
    for (const index of [0, 1, 2, 3]) serve(index, hung)
    const bytesMax = 1024 * 1024
    const reads = Array.from({ length: 70 }, () => reader.read({ ...page(null), bytesMax }))
    const settled = await clock.run(Promise.allSettled(reads))
    const refused = settled.filter(({ status }) => status === 'rejected')
    expect(refused).toHaveLength(6)
    expect(refused[0]).toMatchObject({ reason: { code: 'OVERLOADED' } })
    await expect(clock.run(reader.read({ ...page(null), bytesMax }))).resolves.toBeTruthy()
  })

  it('that hangs does not delay lookups', async () => {
    const { reader, clock, lookup, timed, serve, honest } = createWorld()
    await lookup(ALICE)
    for (const index of [0, 1, 2, 3])
      serve(index, (request) =>
        request.channel === 'bulk' ? hung(request) : honest(index)(request),
      )
    const reads = Array.from({ length: 30 }, () => reader.read(page(null)))
    await clock.advance(50)
    expect((await timed(ALICE)).ms).toBeLessThan(10)
    await clock.advance(1500)
    expect((await timed(ALICE)).ms).toBeLessThan(15)
    for (const outcome of await clock.run(Promise.all(reads)))
      expect(outcome).toMatchObject({ kind: 'insufficient' })
  })
})
