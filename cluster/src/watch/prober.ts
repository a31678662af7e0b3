/**
 * A lookup a second, as a user would make it through the scan proxy, and the same question to every node:
 * where the latencies, the outcomes and the agreement of `status` and of the console come from.
 */
import type { Clock } from '@quorumscan/base'
import { formatTime } from '@quorumscan/model'
import { type Asked, ask } from '../ask.ts'
import { DISAGREES, wordOfRefusal } from '../node-words.ts'
import type { AtNodes } from '../status.ts'
import { createFeed, type Feed } from './feed.ts'

const INTERVAL_MS = 1000
/** The proxy waits 2 s for its nodes (D-38). */
const PROXY_TIMEOUT_MS = 3000
const NODE_TIMEOUT_MS = 2000
/** Ten minutes. */
const SAMPLES_MAX = 600
/** What percentages and percentiles are of: the last minute. */
const WINDOW_SAMPLES = 60
/** Always there, and the same on every honest node. */
const NAME = 'dso.ns'
/** What a node says that denies it. */
const ABSENT = 'ENTRY_NOT_FOUND'
/** An answer of that name has under 1 KiB. */
const ANSWER_BYTES_MAX = 65_536

export type NodeSample = {
  readonly node: string
  /** `agreed` with the proxy's answer, `dissented` from it, no answer in time, or nothing to compare with. */
  readonly vote: 'agreed' | 'dissented' | 'failed' | 'unknown'
  /** Null without an answer. */
  readonly latencyMs: number | null
  /** Why it failed. */
  readonly reason: string | null
}

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

/** Of the last minute; null where there was no answer. */
export type NodeStatistics = {
  /** Share of the comparable answers that agreed, 0 to 100. */
  readonly agreement: number | null
  readonly p50Ms: number | null
  readonly p99Ms: number | null
  readonly lastError: string | null
}

export type Prober = {
  readonly samples: Feed<Sample>
  statistics(node: string): NodeStatistics
  close(): Promise<void>
}

export function startProber(options: {
  readonly validatorUrl: string
  readonly nodes: readonly { readonly name: string; readonly url: string }[]
  /** Looks a name up at the nodes. */
  readonly lookUp: (name: string) => Promise<AtNodes>
  readonly clock: Clock
  /** Nobody is asked before this: a cluster that starts refuses nothing. */
  readonly after?: Promise<unknown>
}): Prober {
  const { clock } = options
  const samples = createFeed<Sample>(SAMPLES_MAX)
  const closing = new AbortController()

  const probe = async (): Promise<void> => {
    const at = formatTime(clock.nowMicros())
    const path = `/ans-entries/by-name/${NAME}`
    const atNodes = options.lookUp(NAME)
    const proxied = await ask(`${options.validatorUrl}/v0/scan-proxy${path}`, {
      timeoutMs: PROXY_TIMEOUT_MS,
      signal: closing.signal,
      bytesMax: ANSWER_BYTES_MAX,
    })
    const offset = proxied.headers.get('x-quorum-offset') ?? null
    const nodes = await Promise.all(
      options.nodes.map(async ({ name, url }) => {
        const answer = await ask(`${url}/v0${path}`, {
          timeoutMs: NODE_TIMEOUT_MS,
          signal: closing.signal,
          bytesMax: ANSWER_BYTES_MAX,
          ...(offset === null ? {} : { headers: { 'x-read-at-offset': offset } }),
        })
        return sampleOf(name, answer, proxied)
      }),
    )
    samples.publish({
      at,
      outcome: outcomeOf(proxied),
      latencyMs: proxied.latencyMs,
      offset: offset === null ? null : Number(offset),
      nodes,
      atNodes: await atNodes,
    })
  }
  const closed = new Promise<void>((resolve) => {
    closing.signal.addEventListener('abort', () => resolve())
  })
  const run = async () => {
    await Promise.race([options.after, closed])
    while (!closing.signal.aborted) {
      await probe()
      await clock.delay(INTERVAL_MS, closing.signal).catch(() => {}) // Closing: the loop ends.
    }
  }
  const running = run()
  return {
    samples,
    statistics(node) {
      const recent = samples
        .recent()
        .slice(-WINDOW_SAMPLES)
        .flatMap((sample) => sample.nodes.filter((one) => one.node === node))
      const compared = recent.filter(({ vote }) => vote === 'agreed' || vote === 'dissented')
      const agreed = compared.filter(({ vote }) => vote === 'agreed').length
      const latencies = recent.flatMap(({ latencyMs }) => (latencyMs === null ? [] : [latencyMs]))
      latencies.sort((left, right) => left - right)
      return {
        agreement: compared.length === 0 ? null : (100 * agreed) / compared.length,
        p50Ms: percentile(latencies, 0.5),
        p99Ms: percentile(latencies, 0.99),
        lastError: recent.findLast(({ reason }) => reason !== null)?.reason ?? null,
      }
    },
    async close() {
      closing.abort()
      await running
    },
  }
}

/** The nearest rank of sorted numbers; null of none. */
export function percentile(sorted: readonly number[], share: number): number | null {
  return sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? null
}

function sampleOf(node: string, answer: Asked, proxied: Asked): NodeSample {
  const isAnswer = answer.status === 200 || codeOf(answer) === ABSENT
  if (!isAnswer)
    return {
      node,
      vote: 'failed',
      latencyMs: null,
      reason: answer.reason ?? wordOfRefusal(answer.status ?? 0, answer.body),
    }
  const vote =
    proxied.status !== 200 ? 'unknown' : answer.text === proxied.text ? 'agreed' : 'dissented'
  return {
    node,
    vote,
    latencyMs: answer.latencyMs,
    reason: vote === 'dissented' ? DISAGREES : null,
  }
}

function outcomeOf(proxied: Asked): string {
  if (proxied.status === 200) return proxied.headers.get('x-quorum-outcome') ?? 'unknown'
  return proxied.status === null ? 'unreachable' : (codeOf(proxied) ?? `HTTP ${proxied.status}`)
}

function codeOf({ body }: Asked): string | null {
  const { code } = Object(body)
  return typeof code === 'string' && /^[A-Z_]{1,40}$/.test(code) ? code : null
}
