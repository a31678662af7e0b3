/** Lies of a node about certified requests. It has the keys of all liars, and everything that was ever public. */
import { fromUtf8, toHex, utf8 } from '@quorumscan/base'
import type { SimReply } from '@quorumscan/testkit'
import { askName, type Question } from '@quorumscan/verifier/certified'
import type { Lie } from '../lies.ts'
import type { SimMember } from '../sim-cluster.ts'
import { type CertifiedWorld, ok, type ParsedRequest, refuse } from './certified-world.ts'

type Liar = {
  readonly world: CertifiedWorld
  readonly member: SimMember
  readonly parsed: ParsedRequest
  /** Positions of all liars. */
  readonly liars: readonly number[]
  /** The reply of an honest node. */
  honest(): Promise<SimReply>
  readonly random: Parameters<Lie>[0]['random']
}

type CertifiedLie = (liar: Liar) => Promise<SimReply | null>

const changing =
  (change: (text: string) => string): CertifiedLie =>
  async ({ honest }) => {
    const reply = await honest()
    return reply.status === 200 ? { ...reply, body: utf8(change(fromUtf8(reply.body))) } : reply
  }

/** A true proof of an earlier state, with enough signatures. */
const replaying =
  (agoMs: (liar: Liar) => number): CertifiedLie =>
  async (liar) => {
    const { world, member, parsed } = liar
    const { clock, ledger } = world.cluster
    const untilMicros = clock.nowMicros() - agoMs(liar) * 1000
    const offset = world.certifiable.findLast(
      (one) =>
        ledger.pointAt(one).recordTime <= untilMicros &&
        world.signersAt(member, one).length >= parsed.signerCount,
    )
    if (offset === undefined) return liar.honest()
    const certificate = world.certificate(offset, world.signersAt(member, offset))
    return world.reply(parsed, certificate, { offset })
  }

/** An invented state with the signatures of liars. More than f of them could deceive a reader with a low threshold. */
const inventing =
  (signersOf: (liar: Liar, offset: number) => readonly number[]): CertifiedLie =>
  async (liar) => {
    const { world, parsed } = liar
    const offset = world.certifiable.at(-1) ?? 0
    const certificate = world.certificate(offset, signersOf(liar, offset), world.fiction)
    return world.reply(parsed, certificate, { offset, states: world.fiction })
  }

/** A true certificate with a proof for another question. */
const provingOther =
  (other: (question: Question<unknown>, liar: Liar) => Question<unknown>): CertifiedLie =>
  async (liar) => {
    const { world, member, parsed } = liar
    const offset = world.certifiedOffset(member, parsed.signerCount)
    if (parsed.question === null || offset === undefined) return liar.honest()
    const certificate = world.certificate(offset, world.signersAt(member, offset))
    return world.reply({ ...parsed, question: other(parsed.question, liar) }, certificate, { offset })
  }

export const CERTIFIED_LIES: Readonly<Record<string, CertifiedLie>> = {
  old: replaying(({ random }) => random.integer(300, 5000)),
  older: replaying(({ random }) => random.integer(5000, 70_000)),
  /** An answer just below the age that readers suspect. */
  almostSuspicious: replaying(() => 11_000),
  invent: inventing(({ liars }) => liars),
  inventTwice: inventing(({ liars }) => [...liars, ...liars]),
  /** Names of honest members with signatures of others. */
  inventNames: async (liar) => {
    const reply = await inventing(({ liars }) => liars)(liar)
    const text = reply === null ? '' : fromUtf8(reply.body)
    const [first = ''] = /\["sv-\d+","[0-9a-f]{128}"\]/.exec(text) ?? []
    const signature = first.slice(-130)
    const names = liar.world.cluster.members.map(({ index }) => `["sv-${index + 1}",${signature}`)
    return ok(text.replace(/"signatures":\[.*?\]\]/, `"signatures":[${names}]`))
  },
  /** Signatures of a true certificate over a state that does not exist. */
  borrow: async (liar) => {
    const { world, parsed, member } = liar
    const offset = world.certifiedOffset(member, parsed.signerCount)
    if (offset === undefined) return liar.honest()
    const certificate = world
      .certificate(offset, world.signersAt(member, offset))
      .replace(toHex(world.truth.rootAt(offset)), toHex(world.fiction.rootAt(offset)))
    return world.reply(parsed, certificate, { offset, states: world.fiction })
  },
  tooFew: async (liar) => {
    const { world, member, parsed } = liar
    const offset = world.certifiedOffset(member, 0)
    if (offset === undefined) return liar.honest()
    const few = world.signersAt(member, offset).slice(0, Math.max(1, parsed.signerCount - 1))
    return world.reply(parsed, world.certificate(offset, few), { offset })
  },
  otherTree: async (liar) => {
    const { world, parsed, member } = liar
    const offset = world.certifiedOffset(member, parsed.signerCount)
    if (offset === undefined) return liar.honest()
    const certificate = world.certificate(offset, world.signersAt(member, offset))
    return world.reply(parsed, certificate, { offset, states: world.fiction })
  },
  otherName: provingOther(() => askName('zz.unverified.ns')),
  fewerRows: provingOther((question) => ({
    ...question,
    ranges: question.ranges.map((range) => ({ ...range, limit: Math.max(1, range.limit - 1) })),
  })),
  noRows: provingOther((question) => ({ ...question, ranges: [] })),
  laterStart: provingOther((question) => ({
    ...question,
    ranges: question.ranges.map((range) => ({ ...range, from: utf8('n\0n5') })),
  })),
  newerTime: changing((text) =>
    text.replace(/"record_time":\d+/, '"record_time":4000000000000000'),
  ),
  newerOffset: changing((text) =>
    text.replace(/"offset":(\d+)/, (_, offset) => `"offset":${Number(offset) + 5}`),
  ),
  otherGenesis: changing((text) => text.replace(/"genesis_hash":"../, '"genesis_hash":"00')),
  stolen: changing((text) => text.replaceAll('alice::1220', 'mally::1220')),
  spaced: changing((text) => text.replace(',"proof"', ', "proof"')),
  garbage: changing((text) => text.split('').reverse().join('')),
  truncated: changing((text) => text.slice(0, text.length / 2)),
  oversize: async ({ honest }) => ({ ...(await honest()), body: new Uint8Array(20_000_000) }),
  redirect: async () => refuse(302, ''),
  notFound: async () => refuse(404, 'ENTRY_NOT_FOUND'),
  error: async () => refuse(500, 'INTERNAL'),
  busy: async () => refuse(429, 'RATE_LIMITED', '999999'),
  pruned: async () => refuse(410, 'OFFSET_PRUNED'),
  withhold: async () => refuse(503, 'NO_CERTIFICATE', '999999'),
  hang: async () => null,
  reset: async () => {
    throw new Error('connection reset')
  },
  /** Replies just before the reader asks another member. */
  dawdle: async ({ world, honest, random }) => {
    await world.cluster.clock.delay(random.integer(20, 140))
    return honest()
  },
  /** First returns an older state than the reader has seen, then lets the reader wait. */
  lure: async (liar) => {
    if (liar.parsed.minOffset === 0) return replaying(() => 2000)(liar)
    await liar.world.cluster.clock.delay(1000)
    return refuse(503, 'NO_CERTIFICATE')
  },
  /** Replays an old answer, so that readers do not learn of newer states. */
  freeze: replaying(({ world }) => Math.min(world.cluster.clock.monotonicMs(), 58_000)),
}

/** The lies in the form of `createSimCluster`. */
export function liesOf(
  worldOf: () => CertifiedWorld,
  liars: readonly number[],
): Readonly<Record<string, Lie>> {
  return Object.fromEntries(
    Object.entries(CERTIFIED_LIES).map(([name, lie]): [string, Lie] => [
      name,
      async ({ node, request, random }) => {
        const world = worldOf()
        const member = world.cluster.members.find((one) => one.node === node) as SimMember
        const parsed = world.parse(request)
        if (parsed === null) return node.answer(request)
        const honest = () => world.answer(member, request)
        return lie({ world, member, parsed, liars: liars.toSorted((a, b) => a - b), honest, random })
      },
    ]),
  )
}
