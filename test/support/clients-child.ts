/** Clients of one address each, which ask at a rate, whatever the answers. Reports how long they waited. */

import { createSystemClock } from '@quorumscan/base'
import { Agent, request } from 'undici'
import { again, childArgument } from './child.ts'

export type Asked = {
  readonly url: string
  readonly method: 'GET' | 'POST'
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  /** Texts, in turn; none for no body. */
  readonly bodies: readonly string[]
}

export type ClientsArgument = Asked & {
  readonly addresses: readonly string[]
  /** Requests of each address. */
  readonly perSecond: number
  /** Whether all requests of a second are sent at its start. */
  readonly isBurst: boolean
  readonly ms: number
}

export type Waits = {
  readonly count: number
  /** Answers of 200. */
  readonly servedCount: number
  readonly p99Ms: number
  /** The first answer that was no 200; null if there is none. */
  readonly failure: string | null
}

const MS_PER_SECOND = 1_000
const CONNECTIONS_MAX = 256
const clock = createSystemClock()
const argument = childArgument<ClientsArgument>()
const agents = argument.addresses.map(
  (localAddress) => new Agent({ connections: CONNECTIONS_MAX, localAddress }),
)

await again(argument, async ({ addresses, perSecond, isBurst, ms, ...asked }) => {
  const waits: number[] = []
  let failure: string | null = null
  let bodyCount = 0
  let servedCount = 0
  const ask = async (dispatcher: Agent | undefined): Promise<void> => {
    const { url, path, method, headers, bodies } = asked
    const sentMs = clock.monotonicMs()
    const body = bodies[bodyCount++ % bodies.length] ?? null
    const answer = await request(`${url}${path}`, {
      method,
      headers,
      body,
      ...(dispatcher && { dispatcher }),
    })
    const text = await answer.body.text()
    waits.push(clock.monotonicMs() - sentMs)
    if (answer.statusCode === 200) servedCount++
    else failure ??= `${answer.statusCode} ${text.slice(0, 200)}`
  }
  const beganMs = clock.monotonicMs()
  const asking: Promise<void>[] = []
  const run = async (agent: Agent | undefined, first: number): Promise<void> => {
    for (let index = 0; ; index++) {
      const second = Math.floor(index / perSecond)
      // Addresses ask at different moments.
      const spread = (first / addresses.length) * (MS_PER_SECOND / perSecond)
      const dueMs = isBurst ? second * MS_PER_SECOND : (index * MS_PER_SECOND) / perSecond + spread
      if (dueMs >= ms) return
      const waitMs = beganMs + dueMs - clock.monotonicMs()
      if (waitMs > 0) await clock.delay(waitMs)
      const waited = ask(agent).catch((error: Error) => {
        failure ??= error.message
      })
      asking.push(waited)
    }
  }
  await Promise.all(agents.map(run))
  await Promise.all(asking)
  waits.sort((a, b) => a - b)
  const p99Ms = waits[Math.floor(waits.length * 0.99)] ?? Number.NaN
  return { count: waits.length, servedCount, p99Ms, failure } satisfies Waits
})
