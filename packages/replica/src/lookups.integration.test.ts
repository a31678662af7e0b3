import { setImmediate } from 'node:timers/promises'
import { fromUtf8 } from '@quorumscan/base'
import type { Contract, PartyId } from '@quorumscan/model'
import { createTestNetwork } from '@quorumscan/testkit'
import { itWithRedis } from '@quorumscan/testkit/fixtures'
import fc from 'fast-check'
import type { Redis } from 'ioredis'
import { describe, expect, vi } from 'vitest'
import { cleanUp, cleanUpBacklog } from './clean-up/clean-up.ts'
import { loadOrStart } from './ingest/genesis.ts'
import { createNameReader } from './reads/name-reader.ts'
import {
  INVISIBLE_MEMBERS_MAX,
  readNames,
  readNamesOfParty,
  readParties,
  readPrefix,
  readVersions,
} from './reads/reads.ts'
import { KEYS } from './storage/keys.ts'
import { createLayout } from './storage/layout.ts'
import { touchedVersions } from './storage/plan-versions.ts'
import type { Step } from './storage/step.ts'
import { type HeadState, loadHeadState, writeSteps } from './storage/store.ts'
import { dumpReplica } from './testing/dump.ts'
import { stepAfter, testParty } from './testing/entry-steps.ts'

const network = createTestNetwork()
const layout = createLayout(network)
const { signal } = new AbortController()
const SECOND = 1_000_000
const NAMES = ['a', 'a-', 'a-b', 'a0', 'ab', 'b'].map((label) => `${label}.unverified.ns`)
const PARTIES = ['ann', 'bob', 'cid'].map(testParty)
const PREFIXES = ['', 'a', 'a-', 'ab.unverified.ns', 'b', 'c', 's', 'sv-', '\u{10ffff}']

const it = itWithRedis.extend(
  'freshHeadState',
  ({ connection }) =>
    async (): Promise<HeadState> => {
      await connection.flushall()
      return await loadOrStart(connection, { ...network, layout }, signal)
    },
)
/** The oracle: a plain list of every version that ever existed. */
type OracleEntry = {
  readonly name: string
  readonly user: PartyId
  readonly from: number
  to: number
  readonly expires: number
}

/** One entry of a log: who registers, renews or archives what, and how much time passes before. */
const change = fc.record({
  waits: fc.oneof(
    { weight: 20, arbitrary: fc.integer({ min: 1, max: 30 * SECOND }) },
    { weight: 1, arbitrary: fc.constant(650 * SECOND) },
  ),
  kind: fc.constantFrom('register', 'register', 'renew', 'archive', 'nothing'),
  name: fc.constantFrom(...NAMES),
  user: fc.constantFrom(...PARTIES),
  lifetime: fc.integer({ min: 1, max: 120 * SECOND }),
})

/** The steps of a batch, by rules as the ledger has them: no two live entries of a name. */
function grow(
  history: { steps: Step[]; active: Contract[]; oracle: OracleEntry[] },
  headState: HeadState,
  changes: readonly (typeof change extends fc.Arbitrary<infer T> ? T : never)[],
): Step[] {
  const batch: Step[] = []
  for (const { waits, kind, name, user, lifetime } of changes) {
    const head = history.steps.at(-1) ?? headState.head
    const recordTime = head.recordTime + waits
    const ofName = history.active.filter((contract) => contract.payload['name'] === name)
    const live = history.oracle.find(
      (entry) => entry.name === name && entry.to === Infinity && entry.expires > recordTime,
    )
    const isOfLive = (contract: Contract) => contract.offset === live?.from
    const archived =
      kind === 'archive' ? ofName.slice(0, 1) : kind === 'renew' ? ofName.filter(isOfLive) : []
    const created =
      kind === 'register' && live === undefined
        ? [{ name, user, expiresAt: recordTime + lifetime }]
        : kind === 'renew' && live !== undefined
          ? [{ name, user: live.user, expiresAt: live.expires + lifetime }]
          : []
    const step = stepAfter(head, { recordTime, created, archived })
    for (const contract of archived)
      for (const entry of history.oracle)
        if (entry.name === name && entry.from === contract.offset) entry.to = step.offset
    for (const { expiresAt: expires, ...entry } of created)
      history.oracle.push({ ...entry, from: step.offset, to: Infinity, expires })
    history.active = [
      ...history.active.filter((contract) => !archived.includes(contract)),
      ...step.delta.created,
    ]
    history.steps.push(step)
    batch.push(step)
  }
  return batch
}

const nameIn = (body: Uint8Array | null): string | null =>
  body === null ? null : JSON.parse(fromUtf8(body)).name
const ownerIn = (body: Uint8Array | null): string | null =>
  body === null ? null : JSON.parse(fromUtf8(body)).user

describe('lookups at an offset', () => {
  it('answer as a list of all versions would, at every offset of the horizon', async ({
    freshHeadState,
    connection,
  }) => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.array(change, { minLength: 1, maxLength: 8 }), { maxLength: 6 }),
        fc.constantFrom(1, 1_000, 1_000_000),
        async (batches, cacheBytesMax) => {
          const headState = await freshHeadState()
          const remembering = createNameReader(connection, { cacheBytesMax })
          remembering.moveTo(headState.head.offset, null)
          const history = { steps: [] as Step[], active: [], oracle: [] as OracleEntry[] }
          const synthetic = [
            { name: 'dso.ns', user: network.genesis.dso },
            ...network.genesis.nodes.map(({ name }) => ({ name: `${name}.sv.ns`, user: null })),
          ]
          for (const changes of batches) {
            const steps = grow(history, headState, changes)
            expect(await writeSteps(connection, headState, { steps, layout, signal })).toBe(
              'written',
            )
            const positionAt = (offset: number) => {
              const position = headState.timeline.at(offset)
              if (position === undefined) throw new Error(`no timeline entry at ${offset}`)
              const visible = history.oracle.filter(
                ({ from, to, expires }) =>
                  from <= offset && offset < to && expires > position.recordTime,
              )
              return { position, visible }
            }
            // The cache must be right also while ingest has written and not reported yet.
            for (const isTold of [false, true]) {
              if (isTold) remembering.moveTo(headState.head.offset, touchedVersions(steps).names)
              for (let offset = headState.head.offset; offset >= headState.head.horizon; offset--) {
                const { position, visible } = positionAt(offset)
                const named = await readNames(remembering, [...NAMES, 'dso.ns', '', '\0'], position)
                expect(named.map(ownerIn)).toEqual([
                  ...NAMES.map(
                    (name) => visible.find((entry) => entry.name === name)?.user ?? null,
                  ),
                  network.genesis.dso,
                  null,
                  null,
                ])
              }
            }
            if (cleanUpBacklog(headState) > 0) await cleanUp(connection, headState, signal)
            for (let offset = headState.head.horizon; offset <= headState.head.offset; offset++) {
              const { position, visible } = positionAt(offset)
              const owned = PARTIES.map((user) =>
                visible.flatMap((entry) => (entry.user === user ? [entry.name] : [])).sort(),
              )
              const byParty = await readParties(connection, PARTIES, position)
              expect(byParty.map(nameIn)).toEqual(owned.map((names) => names[0] ?? null))
              for (const [index, party] of PARTIES.entries()) {
                const page = { party, after: null, limit: 2 }
                const first = await readNamesOfParty(connection, page, position)
                const after = first.at(-1)?.name ?? null
                const rest = await readNamesOfParty(
                  connection,
                  { ...page, after, limit: 9 },
                  position,
                )
                expect([...first, ...(after === null ? [] : rest)].map(({ name }) => name)).toEqual(
                  owned[index],
                )
              }
              for (const prefix of PREFIXES) {
                const expected = [...visible, ...synthetic]
                  .map(({ name }) => name)
                  .filter((name) => name.startsWith(prefix))
                  .sort()
                const page = { prefix, after: null, limit: 3 }
                const first = await readPrefix(connection, page, position)
                const after = first.at(-1)?.name ?? null
                const rest = await readPrefix(connection, { ...page, after, limit: 20 }, position)
                expect([...first, ...(after === null ? [] : rest)].map(({ name }) => name)).toEqual(
                  expected,
                )
              }
            }
          }
        },
      ),
      { numRuns: 12 },
    )
  })

  it('leave no data of ended names below the horizon', async ({ freshHeadState, connection }) => {
    const headState = await freshHeadState()
    const before = await dumpReplica(connection)
    const registered = stepAfter(headState.head, {
      recordTime: headState.head.recordTime + 1,
      created: NAMES.map((name) => ({
        name,
        user: testParty('ann'),
        expiresAt: headState.head.recordTime + 5,
      })),
    })
    const archived = stepAfter(registered, {
      recordTime: registered.recordTime + 10,
      archived: registered.delta.created,
    })
    const later = stepAfter(archived, { recordTime: archived.recordTime + 601 * SECOND })
    for (const step of [registered, archived, later])
      await writeSteps(connection, headState, { steps: [step], layout, signal })
    expect(cleanUpBacklog(headState)).toBe(NAMES.length)
    expect(await cleanUp(connection, headState, signal)).toBe('written')
    const after = await dumpReplica(connection)
    // The head is a field of names and differs; so does the timeline.
    expect(after[KEYS.names]?.length).toBe(before[KEYS.names]?.length)
    for (const dump of [before, after]) for (const key of [KEYS.names, KEYS.at]) delete dump[key]
    expect(after).toEqual(before)
  })

  it('at the same time share commands, and each returns its own names', async ({
    freshHeadState,
    connection,
  }) => {
    const headState = await freshHeadState()
    const recordTime = headState.head.recordTime + 1
    const names = Array.from({ length: 600 }, (_, index) => `n-${index}.unverified.ns`)
    const created = names.map((name) => ({
      name,
      user: testParty('ann'),
      expiresAt: recordTime + 9,
    }))
    const step = stepAfter(headState.head, { recordTime, created })
    await writeSteps(connection, headState, { steps: [step], layout, signal })
    const commandCount = async () =>
      Number(/cmdstat_hmget:calls=(\d+)/.exec(await connection.info('commandstats'))?.[1] ?? 0)
    const countBefore = await commandCount()
    const read = createNameReader(connection)
    const position = { offset: headState.head.offset, recordTime }
    const asked = [...names, 'unknown.unverified.ns', ...names].map((name) => [name, name])
    const found = await Promise.all(asked.map((pair) => readNames(read, pair, position)))
    const returned = found.map((bodies) => bodies.map(nameIn))
    const owned = asked.map((pair) => pair.map((name) => (name.startsWith('n-') ? name : null)))
    expect(returned).toEqual(owned)
    // Each command reads up to 512 names.
    expect((await commandCount()) - countBefore).toBeLessThanOrEqual(4)
    expect((await readNames(read, ['n-1.unverified.ns'], position)).map(nameIn)).toEqual([names[1]])
    // Nothing is cached before ingest reports its head; then the oldest value is evicted.
    const small = createNameReader(connection, { cacheBytesMax: 100_000 })
    const countOf = async (asked: readonly string[]) => {
      const countOfBefore = await commandCount()
      await readNames(small, asked, position)
      return (await commandCount()) - countOfBefore
    }
    expect([await countOf(names.slice(0, 9)), await countOf(names.slice(0, 9))]).toEqual([1, 1])
    small.moveTo(headState.head.offset, null)
    expect([await countOf(names.slice(0, 9)), await countOf(names.slice(0, 9))]).toEqual([1, 0])
    expect([await countOf(names.slice(9, 500)), await countOf(names.slice(490, 500))]).toEqual([
      1, 0,
    ])
    expect(await countOf(names.slice(0, 9))).toBe(1)
    // Names of a page are not cached, as they would evict the others.
    for (const count of [1, 1]) {
      const countOfBefore = await commandCount()
      await readVersions(small, names.slice(100, 109), position, 'fetchOfPage')
      expect((await commandCount()) - countOfBefore).toBe(count)
    }
    expect(await countOf(names.slice(0, 9))).toBe(0)
  })

  it('cache no reply that ingest made obsolete while it was on its way', async ({
    freshHeadState,
    connection,
  }) => {
    const headState = await freshHeadState()
    let arrive = () => {}
    const arrival = new Promise<void>((resolve) => {
      arrive = resolve
    })
    const held = {
      async hmgetBuffer(...fields: Parameters<Redis['hmgetBuffer']>) {
        const values = await connection.hmgetBuffer(...fields)
        await arrival
        return values
      },
    } as unknown as Redis
    const reader = createNameReader(held)
    reader.moveTo(headState.head.offset, null)
    const name = 'a.unverified.ns'
    const before = headState.timeline.at(headState.head.offset)
    if (before === undefined) throw new Error('not in the timeline')
    const early = readNames(reader, [name], before)
    // On the same connection: when this is answered, the early read was, too.
    await setImmediate()
    await connection.ping()
    const recordTime = headState.head.recordTime + 1
    const created = [{ name, user: testParty('ann'), expiresAt: recordTime + 9 }]
    const steps = [stepAfter(headState.head, { recordTime, created })]
    await writeSteps(connection, headState, { steps, layout, signal })
    reader.moveTo(headState.head.offset, [name])
    arrive()
    expect(await early).toEqual([null])
    const after = { offset: headState.head.offset, recordTime }
    expect((await readNames(reader, [name], after)).map(nameIn)).toEqual([name])
  })

  it('still show a name at the horizon after a clean-up of its older versions', async ({
    freshHeadState,
    connection,
  }) => {
    const headState = await freshHeadState()
    const ann = testParty('ann')
    const start = headState.head.recordTime
    const name = 'a.unverified.ns'
    const created = [{ name, user: ann, expiresAt: start + 9_000 * SECOND }]
    const first = stepAfter(headState.head, { recordTime: start + 1, created })
    const second = stepAfter(first, {
      recordTime: start + 2,
      created,
      archived: first.delta.created,
    })
    // The horizon: the last offset before the second version ends.
    const third = stepAfter(second, { recordTime: start + 100 * SECOND })
    const fourth = stepAfter(third, {
      recordTime: start + 200 * SECOND,
      archived: second.delta.created,
    })
    const last = stepAfter(fourth, { recordTime: third.recordTime + 600 * SECOND })
    await writeSteps(connection, headState, {
      steps: [first, second, third, fourth, last],
      layout,
      signal,
    })
    expect(headState.head.horizon).toBe(third.offset)
    expect(cleanUpBacklog(headState)).toBe(1)
    expect(await cleanUp(connection, headState, signal)).toBe('written')
    expect((await readNames(createNameReader(connection), [name], third)).map(nameIn)).toEqual([
      name,
    ])
    expect((await readParties(connection, [ann], third)).map(nameIn)).toEqual([name])
    expect(await readNames(createNameReader(connection), [name], fourth)).toEqual([null])
  })

  it('are one command each, however often a name was renewed and however many expired around it', async ({
    freshHeadState,
    connection,
  }) => {
    const headState = await freshHeadState()
    const [ann, bob] = [testParty('ann'), testParty('bob')]
    const name = 'n-old.unverified.ns'
    let head = stepAfter(headState.head, { recordTime: headState.head.recordTime + 1 })
    const steps = [head]
    const go = (change: Omit<Parameters<typeof stepAfter>[1], 'recordTime'>, waits = 1) => {
      head = stepAfter(head, { recordTime: head.recordTime + waits, ...change })
      steps.push(head)
      return head.delta.created
    }
    const expiresAt = headState.head.recordTime + 9_000 * SECOND
    const renewed = (user: PartyId) => ({ name, user, expiresAt })
    let own = go({ created: [renewed(ann)] })
    for (let renewal = 0; renewal < 100; renewal++)
      own = go({ created: [renewed(ann)], archived: own })
    const brief = Array.from({ length: 400 }, (_, index) => ({
      name: `n-${index}.unverified.ns`,
      user: ann,
      expiresAt: head.recordTime + 2,
    }))
    const zoo = 'n-zoo.unverified.ns'
    const [, ...expired] = go({ created: [{ ...renewed(bob), name: zoo }, ...brief] })
    go({ archived: expired }, 5)
    go({}, 601 * SECOND)
    for (const step of steps)
      await writeSteps(connection, headState, { steps: [step], layout, signal })
    while (cleanUpBacklog(headState) > 0) await cleanUp(connection, headState, signal)
    const position = headState.timeline.at(headState.head.offset)
    if (position === undefined) throw new Error('not in the timeline')

    const lookups = {
      name: async () =>
        (await readNames(createNameReader(connection), [name, 'n-7.unverified.ns'], position)).map(
          nameIn,
        ),
      prefix: async () =>
        (await readPrefix(connection, { prefix: 'n-', after: null, limit: 100 }, position)).map(
          (found) => found.name,
        ),
      parties: async () => (await readParties(connection, [bob], position)).map(nameIn),
    }
    const expected = {
      name: [name, null],
      prefix: [name, zoo],
      parties: [zoo],
    }
    for (const kind of ['name', 'prefix', 'parties'] as const) {
      // A script's first use may take a second command that brings it.
      expect(await lookups[kind]()).toEqual(expected[kind])
      const sent = vi.spyOn(connection, 'sendCommand')
      await lookups[kind]()
      expect(sent, kind).toHaveBeenCalledTimes(1)
      sent.mockRestore()
    }
  })

  it('refuse to walk over too many ended names', async ({ freshHeadState, connection }) => {
    const headState = await freshHeadState()
    const user = testParty('ann')
    const step = (count: number, lifetime: number, label: string) => {
      const recordTime = headState.head.recordTime + 1
      const created = Array.from({ length: count }, (_, index) => ({
        name: `${label}${String(index).padStart(5, '0')}.unverified.ns`,
        user,
        expiresAt: recordTime + lifetime,
      }))
      return stepAfter(headState.head, { recordTime, created })
    }
    const write = async (next: Step) => {
      await writeSteps(connection, headState, { steps: [next], layout, signal })
      return headState.timeline.at(headState.head.offset)
    }
    await write(step(INVISIBLE_MEMBERS_MAX, 1, 'd'))
    const bearable = await write(step(1, 60 * SECOND, 'e'))
    if (bearable === undefined) throw new Error('not in the timeline')
    expect((await readParties(connection, [user], bearable)).map(nameIn)).toEqual([
      'e00000.unverified.ns',
    ])
    const page = { prefix: 'd0', after: null, limit: 10 }
    expect(await readPrefix(connection, page, bearable)).toEqual([])
    const beyond = await write(step(2, 0, 'd1'))
    if (beyond === undefined) throw new Error('not in the timeline')
    await expect(readPrefix(connection, { ...page, prefix: '' }, beyond)).rejects.toMatchObject({
      code: 'OVERLOADED',
    })
    await expect(readParties(connection, [user], beyond)).rejects.toMatchObject({
      code: 'OVERLOADED',
    })
  })

  it('refuse an offset that the stored state has not reached, or whose data may be gone', async ({
    freshHeadState,
    connection,
  }) => {
    const headState = await freshHeadState()
    const at = headState.timeline.at(0)
    if (at === undefined) throw new Error('not in the timeline')
    await expect(
      readNames(createNameReader(connection), NAMES, { ...at, offset: 1 }),
    ).rejects.toMatchObject({
      code: 'OFFSET_NOT_REACHED',
    })
    const recordTime = headState.head.recordTime + 601 * SECOND
    await writeSteps(connection, headState, {
      steps: [stepAfter(headState.head, { recordTime })],
      layout,
      signal,
    })
    for (const read of [
      () => readNames(createNameReader(connection), NAMES, at),
      () => readParties(connection, PARTIES, at),
      () => readPrefix(connection, { prefix: '', after: null, limit: 1 }, at),
    ])
      await expect(read()).rejects.toMatchObject({ code: 'OFFSET_PRUNED' })
  })
})

describe('writing', () => {
  it('of two writers that start from one head changes Redis once', async ({
    freshHeadState,
    connection,
  }) => {
    const first = await freshHeadState()
    const second = await loadHeadState(connection)
    if (second === null) throw new Error('no replica')
    const recordTime = first.head.recordTime + 1
    const created = [{ name: 'a.unverified.ns', user: testParty('ann'), expiresAt: recordTime + 9 }]
    const step = stepAfter(first.head, { recordTime, created })
    const other = stepAfter(first.head, { recordTime: recordTime + 1 })
    const outcomes = [
      await writeSteps(connection, first, { steps: [step], layout, signal }),
      await writeSteps(connection, second, {
        steps: [{ ...other, historyHash: 'ff'.repeat(32) }],
        layout,
        signal,
      }),
    ]
    expect(outcomes).toEqual(['written', 'fenced'])
    expect((await loadHeadState(connection))?.head).toEqual(first.head)
    expect(second.head.offset).toBe(0)
  })

  it('a batch that is written again from the old head changes nothing', async ({
    freshHeadState,
    connection,
  }) => {
    const headState = await freshHeadState()
    const again = await loadHeadState(connection)
    if (again === null) throw new Error('no replica')
    const recordTime = headState.head.recordTime + 1
    const created = [{ name: 'a.unverified.ns', user: testParty('ann'), expiresAt: recordTime + 9 }]
    const steps = [stepAfter(headState.head, { recordTime, created })]
    await writeSteps(connection, headState, { steps, layout, signal })
    const dump = await dumpReplica(connection)
    expect(await writeSteps(connection, again, { steps, layout, signal })).toBe('fenced')
    expect(await dumpReplica(connection)).toEqual(dump)
  })

  it('of two clean-ups from one head only one deletes', async ({ freshHeadState, connection }) => {
    const headState = await freshHeadState()
    const recordTime = headState.head.recordTime + 1
    const created = NAMES.map((name) => ({
      name,
      user: testParty('ann'),
      expiresAt: recordTime + 9,
    }))
    const registered = stepAfter(headState.head, { recordTime, created })
    const archived = stepAfter(registered, {
      recordTime: recordTime + 10,
      archived: registered.delta.created,
    })
    const later = stepAfter(archived, { recordTime: recordTime + 700 * SECOND })
    await writeSteps(connection, headState, {
      steps: [registered, archived, later],
      layout,
      signal,
    })
    const other = await loadHeadState(connection)
    if (other === null) throw new Error('no replica')
    const next = stepAfter(later, {
      recordTime: later.recordTime + 1,
      created: created.map((fields) => ({ ...fields, expiresAt: later.recordTime + 9 })),
    })
    expect(await cleanUp(connection, headState, signal)).toBe('written')
    const dump = await dumpReplica(connection)
    await cleanUp(connection, other, signal)
    expect(await dumpReplica(connection)).toEqual(dump)
    await writeSteps(connection, headState, { steps: [next], layout, signal })
    expect(cleanUpBacklog(headState)).toBe(0)
  })
})
