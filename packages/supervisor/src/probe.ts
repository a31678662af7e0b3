/** Asking a process whether it is ready, with a bound on the wait: a paused one answers nothing. */
import { createConnection } from 'node:net'
import { MICROS_PER_MS } from '@quorumscan/base'
import type { NodeState } from '@quorumscan/errors/node-words'
import { ask, CLOCK_TOLERANCE_MICROS, describeOffset } from '@quorumscan/runtime'
import { z } from 'zod'

/** What a synchronizer that orders with others says of its engine. */
export type OrderingReport = {
  /** Of its newest block. */
  readonly height: number
  /** In which the block before was decided; above 0, a proposer was away. */
  readonly round: number | null
  /** Members whose engines are connected to its own. */
  readonly connected: readonly string[]
  /** Members whose votes on that block were missed. */
  readonly absent: readonly string[]
}

/** A healthy process answers its health routes within milliseconds. */
const PROBE_TIMEOUT_MS = 1000
/** The proxy's own wait for its nodes is 2 s (D-38). */
const QUORUM_TIMEOUT_MS = 3000

/** On a unix socket of this machine. */
export type LocalRedis = {
  readonly path: string
  /** Absent where the default user needs no password. */
  readonly username?: string
  readonly password?: string
}

/** Whether the Redis behind the socket has loaded its data and answers. */
export function isRedisReady(address: LocalRedis): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = createConnection({ path: address.path, timeout: PROBE_TIMEOUT_MS })
    let answer = ''
    const finish = (isReady: boolean) => {
      socket.destroy()
      resolve(isReady)
    }
    socket.on('timeout', () => finish(false))
    socket.on('error', () => finish(false))
    socket.on('close', () => finish(false))
    socket.on('connect', () => {
      const { username, password } = address
      // Inline commands of the Redis protocol; passwords are hex, so they need no quoting.
      socket.write(`${password === undefined ? '' : `AUTH ${username} ${password}\r\n`}PING\r\n`)
    })
    socket.on('data', (chunk) => {
      answer += chunk.toString('latin1')
      if (answer.endsWith('+PONG\r\n')) finish(true)
      else if (/^-/m.test(answer)) finish(false)
    })
  })
}

export type Health = {
  readonly state: Extract<NodeState, 'starting' | 'catching-up' | 'up'>
  readonly detail: string | null
  /** The code of what it says it lacks. */
  readonly code: string | null
  /** Whether it says that others come before it: as long as they get on nothing is wrong. */
  readonly isInTurn: boolean
  /** Whether it says that it will not go on by itself. */
  readonly standsStill: boolean
  readonly offset: number | null
  readonly recordTime: string | null
}

/** What the process at this address, its mount point included, says, or null if it does not answer. A scan node tells its head with it. */
export async function askHealth(url: string): Promise<Health | null> {
  const { status, headers, body } = await ask(`${url}/readyz`, { timeoutMs: PROBE_TIMEOUT_MS })
  if (status === null) return null
  const { code, error, details, retryable } = Object(body)
  // A log without room for more is read all the same.
  const isUp = status === 200 || code === 'LOG_FULL'
  const isStarting = Object(details).state === 'starting'
  const offset = headers.get('x-ledger-head')
  return {
    state: isUp ? 'up' : isStarting ? 'starting' : 'catching-up',
    code: typeof code === 'string' ? code : null,
    isInTurn: Object(details).state === 'waiting-to-rebuild',
    standsStill: !isUp && retryable === false,
    detail:
      status === 200
        ? (headers.get('x-detail') ?? clockDetail(headers))
        : String(error ?? `HTTP ${status}`),
    offset: offset === null ? null : reportedOffset.parse(Number(offset)),
    recordTime: headers.get('x-ledger-head-time'),
  }
}

/** A process may be broken, or another program: a value of another form counts as not reported. */
const reportedOffset = z.number().int().min(0).nullable().catch(null)
const reportedOrdering: z.ZodType<OrderingReport | null> = z
  .object({
    height: z.number().int(),
    round: z.number().int().nullable(),
    connected: z.array(z.string()),
    absent: z.array(z.string()),
  })
  .nullable()
  .catch(null)

/** Where a process stands; null of what it does not say. */
export type Standing = {
  /** Of its replica, or of the log that it writes. */
  readonly offset: number | null
  /** How it orders with others. */
  readonly ordering: OrderingReport | null
}

/** What the process at this address, its mount point included, tells in its status. */
export async function askStanding(url: string): Promise<Standing> {
  const { body } = await ask(`${url}/status`, { timeoutMs: PROBE_TIMEOUT_MS })
  const { offset = null, ordering = null } = Object(Object(Object(body).success).extra)
  return { offset: reportedOffset.parse(offset), ordering: reportedOrdering.parse(ordering) }
}

/** Of a process that does its work: what is wrong with its clock, before that stops it. */
function clockDetail(headers: Headers): string | null {
  const offsetMicros = Number(headers.get('x-clock-offset-ms')) * MICROS_PER_MS
  return Math.abs(offsetMicros) > CLOCK_TOLERANCE_MICROS
    ? `its clock is ${describeOffset(offsetMicros, 'those of its peers')}`
    : null
}

/** Whether the scan proxy of the validator at this address gets an answer from enough nodes. */
export async function answersByQuorum(validatorUrl: string): Promise<boolean> {
  const url = `${validatorUrl}/v0/scan-proxy/dso-party-id`
  return (await ask(url, { timeoutMs: QUORUM_TIMEOUT_MS })).status === 200
}
