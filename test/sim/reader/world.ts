/** A small honest network with a reader, for tests of single scenarios. */
import type { Outcome, ReaderOptions, ReadOptions } from '@quorumscan/reader'
import { createReader, type Reader } from '@quorumscan/reader/voted'
import {
  createSimWorld,
  type SimHandler,
  type SimWorld,
  simCrypto,
  simEntry,
} from '@quorumscan/testkit'
import { createSeededRandom } from '../../support/seeded-random.ts'

export const START_MICROS = 1_700_000_000_000_000
export const HOUR_MICROS = 3_600_000_000
export const ALICE = 'alice.unverified.ns'

export type ReaderWorld = SimWorld & {
  readonly reader: Reader
  /** Replaces the server of a node. With null, connections are refused. */
  serve(index: number, handler: SimHandler | null): void
  honest(index: number): SimHandler
  /** Looks one name up, and advances time until it is decided. */
  lookup(name: string, options?: ReadOptions): Promise<Outcome>
  /** Looks one name up, and returns the outcome and its time in virtual ms. */
  timed(name: string, options?: ReadOptions): Promise<{ outcome: Outcome; ms: number }>
  /** Appends one offset to the ledger. Default of `nodes`: all nodes apply it immediately. */
  append(put?: readonly string[], options?: { readonly nodes?: readonly number[] }): void
}

/** Nodes at offset 3, with alice and bob registered; the newest record time is 1 s old. */
export function createWorld(
  options: {
    readonly nodeCount?: number
    readonly reader?: Partial<ReaderOptions>
    readonly latencyMs?: (url: string) => number
    /** Of the order in which nodes are asked; `genesis`: in that of the genesis. Default 1. */
    readonly order?: number | 'genesis'
    /** Default: `createReader`. */
    readonly create?: typeof createReader
  } = {},
): ReaderWorld {
  const world = createSimWorld({
    nodeCount: options.nodeCount ?? 4,
    startMicros: START_MICROS,
    genesisMicros: START_MICROS - 9_000_000,
    ...(options.latencyMs === undefined ? {} : { latencyMs: options.latencyMs }),
  })
  const { clock, genesis, genesisHash, ledger, network, nodes, urls } = world
  const entryOf = (name: string) => simEntry(name, { expiresAt: clock.nowMicros() + HOUR_MICROS })
  for (const [index, names] of [[], [ALICE], ['bob.unverified.ns']].entries())
    ledger.append({
      recordTime: START_MICROS - 3_000_000 + index * 1_000_000,
      put: names.map(entryOf),
    })
  for (const node of nodes) node.head = ledger.head()
  const { order = 1 } = options
  const drawn = order === 'genesis' ? { fraction: () => 0 } : createSeededRandom(order)
  const reader = (options.create ?? createReader)({
    genesis,
    genesisHash,
    seeds: urls.slice(0, 2),
    transport: network,
    clock,
    crypto: simCrypto,
    random: () => drawn.fraction(),
    allowPrivateAddresses: true,
    ...options.reader,
  })
  const lookup = async (name: string, readOptions?: ReadOptions): Promise<Outcome> => {
    const [outcome] = await clock.run(reader.lookup([{ name }], readOptions))
    return outcome as Outcome
  }
  return {
    ...world,
    reader,
    lookup,
    serve: (index, handler) => network.serve(urls[index] as string, handler),
    honest: (index) => (request) => (nodes[index] as (typeof nodes)[number]).answer(request),
    async timed(name, readOptions) {
      const startedAtMs = clock.monotonicMs()
      const outcome = await lookup(name, readOptions)
      return { outcome, ms: clock.monotonicMs() - startedAtMs }
    },
    append(names = [], { nodes: appliedBy = nodes.map((_, index) => index) } = {}) {
      ledger.append({ recordTime: clock.nowMicros(), put: names.map(entryOf) })
      for (const index of appliedBy) (nodes[index] as (typeof nodes)[number]).head = ledger.head()
    },
  }
}

/** After the first read: lets time pass until all nodes are asked the next one, as a sample. */
export async function untilSample({ clock, lookup }: ReaderWorld): Promise<void> {
  await clock.advance(700)
  await lookup(ALICE)
  await clock.advance(700)
}

/** A server that never answers. */
export const hung: SimHandler = async () => null

/** The parsed answer. */
export function answerOf(outcome: Outcome): unknown {
  return 'answer' in outcome ? JSON.parse(new TextDecoder().decode(outcome.answer)) : undefined
}

/** Changes the body of a node's 200 answers. */
export function rewriting(handler: SimHandler, rewrite: (body: string) => string): SimHandler {
  return async (request) => {
    const reply = await handler(request)
    if (reply === null || reply.status !== 200 || !request.path.includes('/batch')) return reply
    const body = new TextEncoder().encode(rewrite(new TextDecoder().decode(reply.body)))
    return { ...reply, body }
  }
}
