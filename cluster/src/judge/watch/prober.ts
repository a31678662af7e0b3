/**
 * A lookup per second, as a user makes it through the scan proxy, and the same lookup at every node: the source of the
 * latencies, outcomes and agreement in `status` and the console. Every second lookup asks for a name that does not exist,
 * because some lies concern only such names.
 */
import type { Clock } from '@quorumscan/base'
import { type ResolveOptions, resolve } from '@quorumscan/cli'
import { DISAGREES, describeRefusal } from '@quorumscan/errors/node-words'
import { ask, type HttpReply, repeat } from '@quorumscan/runtime'
import { formatInstant, membersOf } from '@quorumscan/verifier'
import { createFeed } from './feed.ts'

const INTERVAL_MS = 1000
/** The proxy waits 2 s for its nodes (D-38). */
const PROXY_TIMEOUT_MS = 3000
const NODE_TIMEOUT_MS = 2000
/** Ten minutes. */
const SAMPLES_MAX = 600
/** The last minute, for percentages and percentiles. */
const WINDOW_SAMPLES = 60
/** One that always exists and one that never does; the same on every honest node. */
const NAMES = ['dso.ns', 'absent-name.unverified.ns'] as const
/** The code of a node without such an entry. */
const ABSENT = 'ENTRY_NOT_FOUND'
/** A node may send any content type. */
const TYPE_LENGTH_MAX = 40
/** An answer for that name has less than 1 KiB. */
const ANSWER_BYTES_MAX = 65_536

/** The answer of one node to a measured lookup. */
export type NodeSample = {
  readonly node: string
  /** `agreed` with the proxy's answer, `dissented` from it, no answer in time, or nothing to compare with. */
  readonly vote: 'agreed' | 'dissented' | 'failed' | 'unknown'
  /** Null without an answer. */
  readonly latencyMs: number | null
  /** Why it failed. */
  readonly reason: string | null
}

export type AtNodes = Awaited<ReturnType<typeof lookUpAtNodes>>

/** A measured lookup: through the scan proxy, at each node, and by a proof. */
export type Sample = {
  /** ISO 8601. */
  readonly at: string
  /** `verified` …, the error code of the proxy, or `unreachable`. */
  readonly outcome: string
  readonly latencyMs: number
  readonly offset: number | null
  readonly nodes: readonly NodeSample[]
  readonly atNodes: AtNodes
}

export type Prober = ReturnType<typeof startProber>
export type NodeStatistics = ReturnType<Prober['statistics']>

/** A lookup at the nodes, by a proof, as an application makes it that knows only the genesis. Never throws. */
export async function lookUpAtNodes(options: Omit<ResolveOptions, 'quorum'>) {
  const { clock } = options
  const startedMs = clock.monotonicMs()
  const { outcome, asked } = await resolve({ ...options, quorum: 'weak' })
  const { threshold: needed, agreed: signers } = outcome
  const kind: string = outcome.kind
  return { kind, needed, signers, asked, latencyMs: clock.monotonicMs() - startedMs }
}

/** Starts at once, and measures until it is closed. */
export function startProber(options: {
  readonly validatorUrl: string
  readonly nodes: readonly { readonly name: string; readonly url: string }[]
  /** Looks up, at the nodes, the name that exists. */
  readonly lookUp: (name: string) => Promise<AtNodes>
  readonly clock: Clock
  /** False while the cluster starts: no lookup is made then. */
  readonly isReady: () => boolean
}) {
  const { clock } = options
  const samples = createFeed<Sample>(SAMPLES_MAX)
  let count = 0

  const probe = async (signal: AbortSignal): Promise<void> => {
    if (!options.isReady()) return
    const name = NAMES[count++ % NAMES.length] ?? NAMES[0]
    const at = formatInstant(clock.nowMicros())
    const path = `/ans-entries/by-name/${name}`
    const atNodes = options.lookUp(NAMES[0])
    const bounds = { timeoutMs: PROXY_TIMEOUT_MS, signal, bytesMax: ANSWER_BYTES_MAX }
    const proxied = await ask(`${options.validatorUrl}/v0/scan-proxy${path}`, bounds)
    const asked = await askNodes({ ...options, path, proxied, signal })
    const { latencyMs } = proxied
    const answer = { outcome: outcomeOf(proxied), latencyMs, offset: offsetOf(proxied) }
    const nodes = asked.map(({ head: _head, ...sample }) => sample)
    samples.publish({ at, ...answer, nodes, atNodes: await atNodes })
  }
  const probing = repeat(probe, { clock, everyMs: INTERVAL_MS })
  return {
    samples,
    /** The numbers of a node in the last minute; null without an answer. `agreement`: percent of its comparable answers. */
    statistics(node: string) {
      const recent = samples
        .recent()
        .slice(-WINDOW_SAMPLES)
        .flatMap((sample) => sample.nodes.filter((one) => one.node === node))
      const countOf = (vote: NodeSample['vote']) => recent.filter((one) => one.vote === vote).length
      const agreed = countOf('agreed')
      const compared = agreed + countOf('dissented')
      return {
        agreement: compared === 0 ? null : (100 * agreed) / compared,
        ...percentilesOf(recent.flatMap(({ latencyMs }) => latencyMs ?? [])),
        lastError: recent.findLast(({ reason }) => reason !== null)?.reason ?? null,
      }
    },
    close: () => probing[Symbol.asyncDispose](),
  }
}

/** The nearest ranks of latencies; null of none. */
export function percentilesOf(latenciesMs: readonly number[]) {
  const sorted = latenciesMs.toSorted((left, right) => left - right)
  const rank = (share: number) => sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? null
  return { p50Ms: rank(0.5), p99Ms: rank(0.99) }
}

/** The answer of each node to what the proxy was asked, at the offset of the proxy's answer. */
export async function askNodes(options: {
  readonly nodes: readonly { readonly name: string; readonly url: string }[]
  /** Below the version. */
  readonly path: string
  readonly proxied: HttpReply
  readonly signal: AbortSignal
}) {
  const { nodes, path, proxied, signal } = options
  const offset = offsetOf(proxied)
  return await Promise.all(
    nodes.map(async ({ name, url }) => {
      const answer = await ask(`${url}/v0${path}`, {
        timeoutMs: NODE_TIMEOUT_MS,
        signal,
        bytesMax: ANSWER_BYTES_MAX,
        ...(offset !== null && { headers: { 'x-read-at-offset': String(offset) } }),
      })
      const head = Number(answer.headers.get('x-ledger-head') ?? Number.NaN)
      return { ...sampleOf(name, answer, proxied), head: Number.isFinite(head) ? head : null }
    }),
  )
}

function sampleOf(node: string, answer: HttpReply, proxied: HttpReply): NodeSample {
  const type = answer.headers.get('content-type') ?? 'no type'
  const isAnswer = answer.status === 200 || codeOf(answer) === ABSENT
  if (!isAnswer || !type.startsWith('application/json')) {
    const reason = isAnswer
      ? `answers with ${type.slice(0, TYPE_LENGTH_MAX)}`
      : (answer.reason ?? describeRefusal(answer.status ?? 0, answer.body))
    return { node, vote: 'failed', latencyMs: null, reason }
  }
  const { latencyMs } = answer
  if (!isDecided(proxied)) return { node, vote: 'unknown', latencyMs, reason: null }
  const isSame =
    answer.status === proxied.status && (isAbsence(answer) || answer.text === proxied.text)
  return isSame
    ? { node, vote: 'agreed', latencyMs, reason: null }
    : { node, vote: 'dissented', latencyMs, reason: DISAGREES }
}

function isDecided(proxied: HttpReply): boolean {
  return proxied.status === 200 || isAbsence(proxied)
}

/** The proxy answers so only if enough nodes agree. */
function isAbsence(answer: HttpReply): boolean {
  return answer.status === 404 && codeOf(answer) === ABSENT
}

function offsetOf(proxied: HttpReply): number | null {
  const offset = proxied.headers.get('x-quorum-offset')
  return offset === null ? null : Number(offset)
}

function outcomeOf(proxied: HttpReply): string {
  if (isDecided(proxied)) return proxied.headers.get('x-quorum-outcome') ?? 'unknown'
  return proxied.status === null ? 'unreachable' : (codeOf(proxied) ?? `HTTP ${proxied.status}`)
}

function codeOf({ body }: HttpReply): string | null {
  const { code } = membersOf(body)
  return typeof code === 'string' && /^[A-Z_]{1,40}$/.test(code) ? code : null
}
