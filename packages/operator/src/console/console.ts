/**
 * The console of one operator: a page that shows what `status` finds, and some metrics. Nothing can be changed by it.
 * The page and its files are public; what they show needs the token, which a browser keeps behind the `#` of the
 * address, so that no server and no log gets it with the address.
 */
import { createHash, timingSafeEqual } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { type Clock, singleFlight } from '@quorumscan/base'
import { formatInstant } from '@quorumscan/verifier'
import { readSamples } from '../capacity/assess-capacity.ts'
import type { Check } from '../checks/check.ts'
import { PAGE, SCRIPT, STYLE } from './page.ts'

/** The checks ask other nodes: several pages, and one that is reloaded often, share an answer of this age. */
const DATA_MS_MAX = 4_000

const HEADERS = {
  'cache-control': 'no-store',
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'referrer-policy': 'no-referrer',
}
const FILES: Readonly<Record<string, readonly [type: string, text: string]>> = {
  '/console': ['text/html; charset=utf-8', PAGE],
  '/console/page.css': ['text/css; charset=utf-8', STYLE],
  '/console/page.js': ['text/javascript; charset=utf-8', SCRIPT],
}

/** Metrics that an operator looks at first; each of the first process that has it. */
const FIGURES: readonly (readonly [label: string, metric: string])[] = [
  ['offset', 'quorumscan_replica_offset'],
  ['names', 'quorumscan_replica_names'],
  ['newest entry, seconds ago', 'quorumscan_replica_lag_seconds'],
  ['block', 'quorumscan_ordering_height'],
  ['followers of the log', 'quorumscan_log_followers'],
  ['memory of Redis, bytes', 'quorumscan_redis_memory_bytes'],
  ['free disk, bytes', 'quorumscan_disk_free_bytes'],
]

export type Console = ReturnType<typeof createConsole>

export function createConsole(options: {
  readonly name: string
  /** Such as `super-validator`. */
  readonly role: string
  /** The token, read for each request. */
  readonly token: () => string
  readonly readChecks: () => Promise<readonly Check[]>
  readonly readMetrics: () => Promise<string>
  readonly clock: Clock
}) {
  const { name, role, token, readChecks, readMetrics, clock } = options
  let held: { readonly atMs: number; readonly body: string } | null = null
  const read = singleFlight(async () => {
    if (held !== null && clock.monotonicMs() - held.atMs < DATA_MS_MAX) return held.body
    const [checks, exposition] = await Promise.all([readChecks(), readMetrics()])
    const at = formatInstant(clock.nowMicros())
    const body = JSON.stringify({ name, role, at, figures: figuresOf(exposition), checks })
    held = { atMs: clock.monotonicMs(), body }
    return body
  })
  return {
    /** Answers a path of the console. Returns false for another path. */
    async answer(path: string, incoming: IncomingMessage, response: ServerResponse) {
      const file = Object.hasOwn(FILES, path) ? FILES[path] : undefined
      if (file === undefined && path !== '/console/data') return false
      for (const [header, value] of Object.entries(HEADERS)) response.setHeader(header, value)
      if (file !== undefined) {
        const [type, text] = file
        response.writeHead(200, { 'content-type': type }).end(text)
      } else if (!isToken(incoming.headers.authorization, token()))
        response.writeHead(401, { 'www-authenticate': 'Bearer' }).end()
      else {
        const body = await read()
        response.writeHead(200, { 'content-type': 'application/json' }).end(body)
      }
      return true
    },
  }
}

function isToken(header: string | undefined, token: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest()
  return timingSafeEqual(digest(header ?? ''), digest(`Bearer ${token}`))
}

/** Texts for people, in the order of `FIGURES`. */
function figuresOf(exposition: string) {
  const samples = [...readSamples(exposition).values()]
  const figures = FIGURES.flatMap(([label, metric]) => {
    const value = samples.find((one) => one.has(metric))?.get(metric)
    return value === undefined ? [] : [{ label, value: grouped(value) }]
  })
  return [...canLose(exposition), ...figures]
}

/** How many more failures of super-validators are tolerated, by what they would stop. */
function canLose(exposition: string) {
  const sample = /^quorumscan_can_lose\{.*kind="(\w+)".*\} (-?\d+)$/gm
  return [...exposition.matchAll(sample)].map(([, kind, value = '']) => ({
    label: `failures tolerated, ${kind}`,
    value,
  }))
}

/** With a narrow space between groups of three digits. */
function grouped(value: number): string {
  return String(Math.round(value)).replace(/\B(?=(?:\d{3})+$)/g, '\u202f')
}
