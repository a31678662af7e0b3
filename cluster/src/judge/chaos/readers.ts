/**
 * The readers of a chaos run: lookups begin at a fixed rate, whatever the outcome of earlier ones, so that no wait hides an
 * outage. In addition, a prober asks each node. A stranger, which no monitor resembles, reads proofs.
 */
import type { Clock } from '@quorumscan/base'
import { openReader } from '@quorumscan/cli'
import { TIMEOUT } from '@quorumscan/errors/node-words'
import { askSignedStates, type SignedStates } from '@quorumscan/operator'
import type { CertifiedReader } from '@quorumscan/reader/certified'
import { ask, type HttpReply } from '@quorumscan/runtime'
import { type Genesis, memberOf, memberSetOf, membersOf } from '@quorumscan/verifier'
import type { CertifiedEntry } from '@quorumscan/verifier/certified'
import { askNodes } from '../watch/prober.ts'
import type { Shared } from './client.ts'
import type { ReadKind, ReadOutcome, Subject } from './history.ts'
import { type Seeded, seededRandom } from './seeded-random.ts'
import { createStrangerTransport } from './stranger.ts'

/** Ten per second through the proxy, so that an outage of 100 ms is seen. */
const READ_EVERY_MS = 100
/** Less often, as this process verifies each proof and also runs the cluster. */
const PROOF_EVERY_MS = 500
const PROBE_EVERY_MS = 1000
/** The proxy waits 2 s for its nodes. Together with the rate this bounds the lookups in flight. */
const LOOKUP_TIMEOUT_MS = 5000
/** Most clients read by votes. */
const PROXIED = ['weak', 'strong', 'weak', 'certified', 'strong', 'certified-strong'] as const
const PROVEN = ['proof', 'proof-strong'] as const
/** The client that a read counts for: successive reads of one client must not go back. */
const CLIENTS: Readonly<Record<ReadKind, string>> = {
  weak: 'voter',
  strong: 'voter',
  certified: 'certified reader',
  'certified-strong': 'certified-strong reader',
  proof: 'prover',
  'proof-strong': 'prover',
}
/** The client with an address, a transport and headers of its own (`stranger.ts`). */
const STRANGER = 'stranger'
/** A statement of an earlier offset is available at once. */
const STATEMENTS_BACK = 2
/** Short, so that a hung node does not delay the prober beyond a lie of a few seconds. */
const STATEMENTS_TIMEOUT_MS = 2000

export type Readers = Awaited<ReturnType<typeof createReaders>>

/**
 * Begins an attempt at each multiple of `everyMs` until the signal aborts, without waiting for earlier ones. Attempts that
 * a busy machine has missed begin at once. Resolves when all have ended.
 */
export async function atFixedRate(
  attempt: (index: number) => Promise<void>,
  { everyMs, clock, signal }: { everyMs: number; clock: Clock; signal: AbortSignal },
): Promise<void> {
  const beganMs = clock.monotonicMs()
  const pending = new Set<Promise<void>>()
  for (let index = 0; !signal.aborted; index++) {
    const waitMs = beganMs + index * everyMs - clock.monotonicMs()
    if (waitMs > 0) await clock.delay(waitMs, signal).catch(() => {}) // Aborted: see below.
    if (signal.aborted) break
    const one = attempt(index).finally(() => pending.delete(one))
    pending.add(one)
  }
  await Promise.all(pending)
}

/** Disposing closes the connections of the proofs' reader. */
export async function createReaders(options: {
  readonly shared: Shared
  readonly genesis: Genesis
  readonly nodes: readonly { readonly name: string; readonly url: string }[]
  readonly seed: string
}) {
  const { shared, genesis, nodes } = options
  const { clock, nowMs, record } = shared
  const proxyUrl = `${shared.validatorUrl}/v0/scan-proxy`
  const timeoutMs = LOOKUP_TIMEOUT_MS
  const prover = await openReader({ genesis, nodes }, clock)
  const stranger = await openReader({ genesis, nodes }, clock, createStrangerTransport())
  /** The prober asks for the latest name that the proxy has answered. */
  let lastPath: string | null = null

  /** One lookup of a client. Resolves when it has ended: whether it was answered. */
  const read = async (subject: Subject, read: ReadKind, client = CLIENTS[read]) => {
    const isProven = read === 'proof' || read === 'proof-strong'
    const startMs = nowMs()
    const headers = { 'x-quorum': read }
    const outcome = isProven
      ? await prove(client === STRANGER ? stranger : prover, { genesis, subject, read })
      : outcomeOf(await ask(proxyUrl + pathOf(subject), { headers, timeoutMs }))
    if (outcome.kind === 'answered') lastPath = pathOf(subject)
    record({ kind: 'lookup', client, startMs, endMs: nowMs(), subject, read, outcome })
    return outcome.kind === 'answered'
  }

  const probe = async (signal: AbortSignal): Promise<void> => {
    const path = lastPath
    if (path === null) return
    const startMs = nowMs()
    const proxied = await ask(proxyUrl + path, { timeoutMs, signal })
    const offset = Number(proxied.headers.get('x-quorum-offset') ?? 0)
    const network = { genesis, nodes, signal, timeoutMs: STATEMENTS_TIMEOUT_MS }
    const [asked, signed] = await Promise.all([
      askNodes({ nodes, path, proxied, signal }),
      askSignedStates(Math.max(0, offset - STATEMENTS_BACK), network),
    ])
    if (signal.aborted) return
    for (const { node, vote, head } of asked) {
      const signedProblem = signedProblemOf(node, signed)
      record({ kind: 'probe', startMs, endMs: nowMs(), node, vote, signedProblem, head })
    }
  }

  return {
    read,
    /** Reads and probes until the signal aborts and all requests have ended. */
    async run(signal: AbortSignal): Promise<void> {
      const readInTurn =
        (kinds: readonly ReadKind[], random: Seeded, client?: string) => async (index: number) => {
          await read(pickSubject(shared, random), kinds[index % kinds.length] ?? 'weak', client)
        }
      const randomOf = (purpose: string) => seededRandom(options.seed, purpose)
      const how = { clock, signal }
      await Promise.all([
        atFixedRate(readInTurn(PROXIED, randomOf('reader')), { everyMs: READ_EVERY_MS, ...how }),
        atFixedRate(readInTurn(PROVEN, randomOf('prover')), { everyMs: PROOF_EVERY_MS, ...how }),
        atFixedRate(readInTurn(PROVEN, randomOf('stranger'), STRANGER), {
          everyMs: PROOF_EVERY_MS,
          ...how,
        }),
        atFixedRate(() => probe(signal), { everyMs: PROBE_EVERY_MS, ...how }),
      ])
    },
    async [Symbol.asyncDispose]() {
      await prover[Symbol.asyncDispose]()
      await stranger[Symbol.asyncDispose]()
    },
  }
}

/** Names change while they are requested, so the latest are read most often. */
const RECENT_NAMES = 6

/** A name of a client, mostly a recent one, or sometimes a name that no client has, or a party. */
function pickSubject({ names, parties, prefix }: Shared, random: Seeded): Subject {
  const draw = random.below(10)
  const recent = names.slice(draw < 4 ? -RECENT_NAMES : 0)
  const name = recent[random.below(recent.length)]
  const party = parties[random.below(parties.length)]
  if (draw === 9 && party !== undefined) return { party }
  return draw < 8 && name !== undefined
    ? { name }
    : { name: `${prefix}-absent-${random.below(5)}.unverified.ns` }
}

/** What is wrong with the signed statements of a node, or null. Pure. */
export function signedProblemOf(node: string, { offset, states }: SignedStates): string | null {
  const own = states.find((one) => one.node === node)
  const hasNone = offset !== null && own?.newest === null
  return own?.reason ?? (hasNone ? 'it has no signed statements, unlike others' : null)
}

/** The outcome of a read through the scan proxy. Pure. */
export function outcomeOf(answer: HttpReply): ReadOutcome {
  const outcome = answer.headers.get('x-quorum-outcome')
  if (answer.reason === TIMEOUT) return { kind: 'timed-out' }
  if (answer.status === null) return { kind: 'no-connection', code: answer.reason ?? 'lost' }
  const isEntry = answer.status === 200
  if (outcome !== null && (isEntry || (answer.status === 404 && outcome.endsWith('-absent'))))
    return {
      kind: 'answered',
      offset: Number(answer.headers.get('x-quorum-offset')),
      entry: isEntry ? (memberOf(answer.body, 'entry') as CertifiedEntry) : null,
      dissented: (answer.headers.get('x-quorum-dissented') ?? '').split(',').filter(Boolean),
    }
  const { code } = membersOf(answer.body)
  return { kind: 'refused', code: typeof code === 'string' ? code : `HTTP_${answer.status}` }
}

async function prove(
  prover: CertifiedReader,
  asked: { readonly genesis: Genesis; readonly subject: Subject; readonly read: ReadKind },
): Promise<ReadOutcome> {
  const { quorum, f } = memberSetOf(asked.genesis)
  const threshold = asked.read === 'proof-strong' ? quorum : f + 1
  const signal = AbortSignal.timeout(LOOKUP_TIMEOUT_MS)
  try {
    const [outcome] = await prover.lookup([asked.subject], { threshold, signal })
    if (outcome === undefined) return { kind: 'timed-out' }
    if (!('answer' in outcome)) return { kind: 'refused', code: outcome.kind.toUpperCase() }
    const { offset, answer: entry, dissented } = outcome
    return { kind: 'answered', offset, entry, dissented }
  } catch (error) {
    if (signal.aborted) return { kind: 'timed-out' }
    return { kind: 'refused', code: String(memberOf(error, 'code') ?? 'FAILED') }
  }
}

function pathOf(subject: Subject): string {
  const [way, asked] = 'name' in subject ? ['by-name', subject.name] : ['by-party', subject.party]
  return `/ans-entries/${way}/${encodeURIComponent(asked)}`
}
