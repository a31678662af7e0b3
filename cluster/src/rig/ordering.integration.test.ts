/**
 * What several members order together, with real engines: one away, two away, engines killed at any moment.
 *
 * @module-tag cluster
 */
import { createSystemClock, sha256Hex } from '@quorumscan/base'
import { verifyProof } from '@quorumscan/cli'
import { allocatePartyCommand, transferCommand } from '@quorumscan/ledger'
import { createEntrySigner } from '@quorumscan/ledger/testing'
import { cases, send, untilTrue } from '@quorumscan/testkit'
import { it as base } from '@quorumscan/testkit/fixtures'
import { type Evidence, verifyEvidence } from '@quorumscan/verifier'
import { beforeAll, describe, expect } from 'vitest'
import { requireEngine } from '../testing/engine.ts'
import { type Member, type MembersOptions, startMembers } from '../testing/members.ts'

const clock = createSystemClock()
const BLOW_COUNT = cases(2, 40)
/** With 199 contracts each: a block of one member may name 4096. */
const DEAR_COUNT = 20
const ROUNDS = 6
const ROUND_MS = 3000
const SUBMITTERS = 24
/** Three of four blocks are proposed by others; the other factor is for a machine with two processors. */
const KEPT_MIN = 0.75 * 0.75

const it = base.extend('network', { scope: 'file' }, async ({ fileResources }) =>
  fileResources.opened(await startFour()),
)

const sign = createEntrySigner(() => ({
  notAfter: clock.nowMicros() + 300_000_000,
  userId: 'alice',
  commandId: 'allocate',
  commands: [allocatePartyCommand({ hint: 'alice' })],
}))

/** Names the maximum number of contracts of an entry. */
function signDear(genesisHash: string): Uint8Array {
  const idOf = (index: number) => `00${String(index).padStart(64, '0')}`
  const sender = `alice::1220${'00'.repeat(32)}`
  const inputs = (from: number) => Array.from({ length: 99 }, (_, index) => idOf(from + index))
  const commands = [1, 101].map((from) =>
    transferCommand({ coinRules: idOf(0), sender, inputs: inputs(from), outputs: [] }),
  )
  return sign({ genesis: genesisHash, actAs: [sender], commands })
}

const statusOf = async (member: Member) =>
  (await send(`${member.url()}/status`)).body?.success?.extra ?? {}
const headOf = async (member: Member): Promise<number> => (await statusOf(member)).offset ?? 0

/** Submits the same bytes until they are in the log, as every submitter does. */
async function submit(member: Member, bytes: Uint8Array): Promise<void> {
  await untilTrue('the entry to be ordered', () =>
    member.submit(bytes).then(
      () => true,
      () => false,
    ),
  )
}

/** All members have the same log, which contains each of these once. */
async function expectSame(
  members: readonly Member[],
  submitted: readonly Uint8Array[],
): Promise<void> {
  const head = Math.max(...(await Promise.all(members.map(headOf))))
  const logs = await Promise.all(members.map((member) => member.readTo(head)))
  const [first = []] = logs
  for (const log of logs) expect(log).toEqual(first)
  const countByHash = new Map<string, number>()
  for (const { bytes } of first) {
    const hash = sha256Hex(bytes)
    countByHash.set(hash, (countByHash.get(hash) ?? 0) + 1)
  }
  expect(submitted.map((bytes) => countByHash.get(sha256Hex(bytes)))).toEqual(
    submitted.map(() => 1),
  )
}

async function untilLive(members: readonly Member[]): Promise<void> {
  for (const member of members)
    await untilTrue(
      `${member.name} to be live`,
      async () => (await statusOf(member)).state === 'live',
    )
}

/** Waits until they have ordered a few more blocks. */
async function untilAhead(members: readonly Member[]): Promise<void> {
  const height = async () =>
    Math.max(
      ...(await Promise.all(
        members.map(async (one) => (await statusOf(one)).ordering?.height ?? 0),
      )),
    )
  const before = await height()
  await untilTrue('blocks to be ordered', async () => (await height()) > before + 2)
}

/** Four running members by name, and a function that orders entries of which none may be lost. */
async function startFour(options: MembersOptions = {}) {
  const network = await startMembers(4, options)
  const [one, two, three, four] = network.members as [Member, Member, Member, Member] // It has four.
  await Promise.all(network.members.map((member) => member.start()))
  await untilLive(network.members)
  const submitted: Uint8Array[] = []
  return {
    ...network,
    one,
    two,
    three,
    four,
    submitted,
    async order(member: Member) {
      const bytes = sign({ genesis: network.genesisHash })
      submitted.push(bytes)
      await submit(member, bytes)
    },
    [Symbol.asyncDispose]: () => network[Symbol.asyncDispose](),
  }
}

describe('four members', () => {
  beforeAll(requireEngine)

  it('order while any one is down; with two down, entries wait for one to return', async ({
    network,
  }) => {
    const { members, one, two, three, four, order } = network
    for (const member of members) await order(member)
    await one.stop()
    for (const member of [two, three, four, two]) await order(member)

    await two.stop()
    const waiting = [order(three), order(four)]
    await untilTrue(
      'status to report that no member orders',
      async () => (await statusOf(four)).state === 'stalled',
    )
    expect((await statusOf(four)).detail).toContain('of 4 members, this engine is connected to 1')
    const before = await headOf(three)
    await one.start()
    await Promise.all(waiting)
    expect(await headOf(three)).toBeGreaterThan(before)

    await two.start()
    await order(two)
    await untilLive(members)
    await expectSame(members, network.submitted)
  })

  it('lose and repeat no entry while engines are killed at any time', {
    tags: ['rest', 'engines-kills'],
  }, async ({ network }) => {
    const { members } = network
    let isOver = false
    const load = members.flatMap((member) =>
      Array.from({ length: 3 }, async () => {
        while (!isOver) await network.order(member)
      }),
    )
    for (let blow = 0; blow < BLOW_COUNT; blow++) {
      const member = members[blow % 4] ?? network.one
      // A decided block waits for its Redis: the engine exits between the decision and the commit.
      const isBetween = blow % 3 === 0
      if (isBetween) {
        member.hangRedis()
        await untilAhead(members.filter((other) => other !== member))
      }
      await member.killEngine()
      if (isBetween) member.resumeRedis()
      if (blow % 2 === 0) {
        await member.stop()
        await member.start()
      }
      await untilLive([member])
    }
    isOver = true
    await Promise.all(load)
    await expectSame(members, network.submitted)
  })

  it('continue without a fork next to a member that signs two blocks for one height, and prove it', {
    tags: ['rest'],
  }, async () => {
    await using network = await startFour({ withTwin: true })
    const { one, two, three, four, order, genesis } = network
    const honest = [two, three, four]
    const evidenceOf = async (member: Member): Promise<readonly Evidence[]> =>
      (await send(`${member.url()}/v0/evidence`)).body.evidence
    await untilTrue('evidence to be listed', async () => {
      for (const member of [one, ...honest]) await order(member)
      const lists = await Promise.all(honest.map(evidenceOf))
      return lists.every((list) => list.length > 0)
    })
    for (const member of honest) {
      const [evidence] = await evidenceOf(member)
      expect(await verifyEvidence(evidence as Evidence, { genesis })).toMatchObject({
        signer: one.name,
        kind: 'vote',
      })
    }
    // It is stored, and the command for it reads the proof.
    const [evidence] = await evidenceOf(two)
    await two.stop()
    await two.start()
    await untilLive([two])
    expect(await evidenceOf(two)).toContainEqual(evidence)
    const text = JSON.stringify({ evidence: await evidenceOf(two) })
    expect(await verifyProof(text, { genesis, request: null, threshold: 2 })).toContainEqual({
      kind: 'evidence',
      evidence: expect.objectContaining({ signer: one.name, kind: 'vote' }),
    })
    await expectSame(honest, network.submitted)
  })

  it('accept one that lost its disk, which votes at no height that it may have signed', {
    tags: ['long', 'engines'],
  }, async () => {
    await using network = await startFour()
    const { members, one, two, order } = network
    for (const member of members) await order(member)
    const signed = (await one.voteState())?.height ?? 0
    expect(signed).toBeGreaterThan(0)
    await one.stop()
    await one.loseDisk()
    await one.start()
    await untilTrue('it to say that it does not vote', async () =>
      ((await statusOf(one)).detail ?? '').includes('the engine follows'),
    )
    expect(await one.voteState()).toBeNull()
    const head = await headOf(two)
    await untilTrue('it to vote again', async () => (await one.voteState()) !== null)
    expect((await one.voteState())?.height).toBeGreaterThan(signed)
    await untilTrue('it to have caught up', async () => (await headOf(one)) >= head)
    // Nothing is ordered without it now.
    await two.stop()
    await order(one)
    await two.start()
    await untilLive(members)
    await expectSame(members, network.submitted)
  })

  it('vote from one machine at a time if a member is restored while its first one runs', {
    tags: ['long', 'engines'],
  }, async () => {
    await using network = await startMembers(4, { withTwin: true })
    const [one, two, three, four, twin] = network.members as [
      ...[Member, Member, Member, Member, Member], // Four members and the twin.
    ]
    const order = (member: Member) => submit(member, sign({ genesis: network.genesisHash }))
    await Promise.all([one, two, three, four].map((member) => member.start()))
    await untilLive([one, two, three, four])
    await twin.loseDisk()
    await twin.start()
    await untilTrue('the second to find that the first votes', async () => {
      await order(two)
      const { detail } = await statusOf(twin)
      return detail?.includes('another machine votes with the same key') === true
    })
    await untilAhead([two])
    expect(await twin.voteState()).toBeNull()
    for (const member of [two, three, four])
      expect((await send(`${member.url()}/v0/evidence`)).body.evidence).toEqual([])

    await one.stop()
    await twin.stop()
    await twin.start()
    await untilTrue('the second to vote', async () => {
      await order(two)
      return (await twin.voteState()) !== null
    })
    // Nothing is ordered without it now.
    await three.stop()
    await order(two)
    expect((await send(`${two.url()}/v0/evidence`)).body.evidence).toEqual([])
  })

  it('let a needed member that lost its disk vote again after a command of its operator', {
    tags: ['long', 'engines'],
  }, async () => {
    await using network = await startFour()
    const { members, one, two, order } = network
    for (const member of members) await order(member)
    await expect(one.forceVote()).rejects.toThrow('has its record of signed votes')
    await two.stop()
    await one.stop()
    await one.loseDisk()
    await one.start()
    // It reports that it does not vote before an engine runs.
    await untilTrue('its engine to follow', async () => {
      const { detail, ordering } = await statusOf(one)
      return detail?.includes('the engine follows') === true && ordering.connected.length > 0
    })
    await expect(one.forceVote()).rejects.toThrow('the vote is not needed')
    await untilTrue('status to report that its operator must decide', async () =>
      ((await statusOf(one)).detail ?? '').includes('cannot order without this vote'),
    )
    expect(await one.voteState()).toBeNull()
    const waiting = order(one)
    await one.forceVote()
    await waiting
    await two.start()
    await untilLive(members)
    await expectSame(members, network.submitted)
  })

  it.each(['garbage', 'dear entries'] as const)(
    'lose only the share of blocks of a member that proposes only %s',
    { tags: ['long', 'engines-proposals'] },
    async (what) => {
      let isAttacked = false
      const flood: Uint8Array[] = []
      const garbage = [new Uint8Array(1000).fill(7)]
      const bad = what === 'garbage' ? garbage : flood
      await using network = await startFour({
        propose: (entries) => (isAttacked ? bad : entries),
      })
      const { two, three, four, order, genesisHash } = network
      for (let each = 0; each < DEAR_COUNT; each++) flood.push(signDear(genesisHash))
      const honest = [two, three, four]
      const counts = { healthy: 0, attacked: 0 }
      for (let round = 0; round < ROUNDS; round++)
        for (const when of ['healthy', 'attacked'] as const) {
          isAttacked = when === 'attacked'
          const endMs = clock.monotonicMs() + ROUND_MS
          await Promise.all(
            Array.from({ length: SUBMITTERS }, async (_, index) => {
              while (clock.monotonicMs() < endMs) {
                await order(honest[index % honest.length] ?? two)
                counts[when]++
              }
            }),
          )
        }
      expect(counts.attacked / counts.healthy).toBeGreaterThan(KEPT_MIN)
      const log = await two.readTo(await headOf(two))
      const proposed = new Set(bad.map((bytes) => sha256Hex(bytes)))
      const ordered = log.filter(({ bytes }) => proposed.has(sha256Hex(bytes))).length
      if (what === 'garbage') expect(ordered).toBe(0)
      else expect(ordered).toBeGreaterThan(DEAR_COUNT)
      await expectSame(honest, network.submitted)
    },
  )
})
