import {
  errorCodesOf,
  ledgerRoutes,
  type RouteDef,
  scanRoutes,
  socketRoutes,
  synchronizerRoutes,
  validatorRoutes,
} from '@quorumscan/api'
import { createSystemClock } from '@quorumscan/base'
import { catalogue } from '@quorumscan/errors'
import fc from 'fast-check'
import type { Attack, Target } from './attack.ts'
import { type Schema, valuesOf } from './fuzz-values.ts'
import { inMib, MIB, spentOn } from './process.ts'
import { first, frame, open, TEXT_FRAME, upgrade } from './wire.ts'

const clock = createSystemClock()
const STALL_MS_MAX = 200
const MEMORY_BYTES_MAX = 100 * MIB
/** Of a request that is nearly right, every eighth part is wrong. */
const WRONGNESS = 8
/** Some operations wait for the ledger, and streams for what comes; nobody here does. */
const WAIT_MS = 2_000
const AT_ONCE = 8

/** As much of a route as its two kinds have in common. */
type Route = Pick<RouteDef, 'operationId' | 'path' | 'auth'> & {
  readonly method: string
  readonly params?: unknown
  readonly query?: unknown
  readonly headers?: unknown
  readonly body?: unknown
}
type Message = {
  /** Whose it is, for a person. */
  readonly name: string
  readonly parts: readonly (string | Uint8Array)[]
  /** Our side is closed after the last part: a request that is not whole is waited for otherwise. */
  readonly isEnded: boolean
  /** Codes of the catalogue that may answer it with a 5xx. */
  readonly codes: readonly string[]
}

const EVERY_CODE = Object.keys(catalogue)
const wholly = (name: string, codes: readonly string[]) => (parts: Message['parts']) => ({
  name,
  parts,
  isEnded: false,
  codes,
})

/** Requests of a route: the first half of them right in all, or most, of their parts, then with bytes changed. */
function messagesOf(route: Route, token: string): fc.Arbitrary<Message> {
  const codes = 'errors' in route ? errorCodesOf(route as RouteDef) : ['SERVICE_NOT_RUNNING']
  const requests = fc
    .constantFrom(null, WRONGNESS)
    .chain((wrongness) => {
      const part = (schema: unknown) =>
        (schema === undefined
          ? fc.constant({})
          : valuesOf(schema as Schema, wrongness)) as fc.Arbitrary<Record<string, unknown>>
      return fc.record({
        params: part(route.params),
        query: part(route.query),
        headers: part(route.headers),
        body: typeof route.body === 'object' ? part(route.body) : fc.string({ unit: 'binary' }),
      })
    })
    .map(({ params, query, headers, body }) => {
      const segment = (name: string) => asSegment(params?.[name] ?? name)
      const path = route.path.replace(/\{([^}]+)\}/g, (_, name: string) => segment(name))
      const pairs = Object.entries(query ?? {}).map(
        ([name, value]) => `${name}=${asSegment(value)}`,
      )
      const text =
        route.method === 'GET'
          ? ''
          : Buffer.from(typeof body === 'string' ? body : (JSON.stringify(body) ?? ''))
      const lines = [
        `${route.method} ${path}${pairs.length > 0 ? '?' : ''}${pairs.join('&')} HTTP/1.1`,
        'host: a',
        'connection: close',
        ...(route.auth === 'none' ? [] : [`authorization: Bearer ${token}`]),
        ...Object.entries(headers ?? {}).map(([name, value]) => `${name}: ${asLine(value)}`),
        ...(route.method === 'GET' ? [] : [`content-length: ${text.length}`]),
      ]
      return [`${lines.join('\r\n')}\r\n\r\n`, text] as const
    })
  return fc.oneof(
    requests.map(wholly(route.operationId, codes)),
    changed(route.operationId, requests),
  )
}

/** First frames of a WebSocket, and bytes that are none. */
function framesOf(path: string, schema: unknown, token: string): fc.Arbitrary<Message> {
  const begin = upgrade(path, `authorization: Bearer ${token}`)
  const requests = fc
    .constantFrom(null, WRONGNESS)
    .chain((wrongness) => valuesOf(schema as Schema, wrongness))
    .map((value) => [begin, frame(TEXT_FRAME, JSON.stringify(value))] as const)
  return fc.oneof(requests.map(wholly(path, EVERY_CODE)), changed(path, requests))
}

/** The same, with bytes taken out and put in. */
function changed(
  name: string,
  requests: fc.Arbitrary<readonly (string | Uint8Array)[]>,
): fc.Arbitrary<Message> {
  const change = fc.record({
    at: fc.double({ min: 0, max: 1, noNaN: true }),
    taken: fc.nat(20),
    put: fc.uint8Array({ maxLength: 20 }),
  })
  return fc
    .tuple(requests, fc.array(change, { minLength: 1, maxLength: 4 }))
    .map(([parts, changes]): Message => {
      let bytes = Buffer.concat(parts.map((part) => Buffer.from(part as string)))
      for (const { at, taken, put } of changes) {
        const index = Math.floor(at * bytes.length)
        bytes = Buffer.concat([bytes.subarray(0, index), put, bytes.subarray(index + taken)])
      }
      return { name: `${name}, changed`, parts: [bytes], isEnded: true, codes: EVERY_CODE }
    })
}

const asText = (value: unknown) =>
  typeof value === 'string' ? value : (JSON.stringify(value) ?? '')
const asSegment = (value: unknown) => encodeURIComponent(Buffer.from(asText(value)).toString())
const asLine = (value: unknown) => asText(value).replace(/[^\t -~]/g, '?')

/** What came back within a time. */
async function ask(url: string, { parts, isEnded }: Message): Promise<string> {
  const socket = open(url)
  const answered = new AbortController()
  let text = ''
  socket.on('data', (bytes) => {
    text += bytes.toString('latin1')
  })
  void first(socket, 'close').then(() => answered.abort())
  for (const part of parts) socket.write(part)
  if (isEnded) socket.end()
  await clock.delay(WAIT_MS, answered.signal).catch(() => {}) // Aborted: it was answered.
  socket.destroy()
  return text
}

/** Null where the answer is one that may be. */
function faultOf(answer: string, codes: readonly string[]): string | null {
  const status = Number(/^HTTP\/1\.1 ([0-9]{3}) /.exec(answer)?.[1] ?? 0)
  // An error of ours, as a frame too: in the words of either interface.
  const isOurs = /"code":"INTERNAL"|"grpcCodeValue":13|LEDGER_API_INTERNAL_ERROR/.test(answer)
  const code = /"code":"([A-Z_]+)"/.exec(answer)?.[1]
  const isDocumented =
    status < 500 || (status === 503 && code === undefined) || codes.includes(code ?? '')
  return isOurs || !isDocumented ? `${status} ${code ?? ''}` : null
}

/** Each with what may be asked of it. */
async function services({ cluster }: Target) {
  const { validator, synchronizer, nodes } = cluster.urls
  const token = await cluster.token()
  const of = (routes: object) =>
    Object.values(routes).map((route: Route) => messagesOf(route, token))
  const streams = Object.values(socketRoutes).map(({ path, request }) =>
    framesOf(path, request, token),
  )
  return {
    node: { url: nodes['sv-1'] ?? '', kinds: of(scanRoutes) },
    validator: { url: validator, kinds: [...of(validatorRoutes), ...of(ledgerRoutes), ...streams] },
    synchronizer: { url: synchronizer, kinds: of(synchronizerRoutes) },
  }
}

export const fuzz: Attack = {
  name: 'fuzz',
  claim:
    'Whoever has a token, or none, may send to every route and every WebSocket what its schema allows, nearly ' +
    'allows, and any bytes. Nothing gets a 5xx that its route does not declare, memory does not grow, and nobody ' +
    'waits 200 ms for a turn.',
  async run(target) {
    const count = target.isLong ? 500 : 8
    const seed = Number(process.env['FUZZ_SEED'] ?? clock.nowMicros() % 2 ** 31)
    const figures: Record<string, number | string> = { FUZZ_SEED: seed }
    let holds = true
    for (const [service, { url, kinds }] of Object.entries(await services(target))) {
      const statuses: Record<string, number> = {}
      const send = async (messages: readonly Message[]) => {
        for (let start = 0; start < messages.length; start += AT_ONCE)
          await Promise.all(
            messages.slice(start, start + AT_ONCE).map(async (message) => {
              const answer = await ask(url, message)
              const status = answer.slice(9, 12) || 'none'
              statuses[status] = (statuses[status] ?? 0) + 1
              const fault = faultOf(answer, message.codes)
              if (fault === null) return
              holds = false
              figures[`${service}, ${message.name}`] =
                `${fault}: ${message.parts.map((part) => String(part).slice(0, 500)).join('')}`
            }),
          )
      }
      const sample = (numRuns: number, ofSeed: number) =>
        kinds.flatMap((kind) => fc.sample(kind, { seed: ofSeed, numRuns }))
      await send(sample(2, seed + 1)) // Code is compiled, and memory taken, once.
      const { stallMs, residentBytes } = await spentOn(url, () => send(sample(count, seed)))
      figures[service] =
        `${JSON.stringify(statuses)}, stall ${Math.round(stallMs)} ms, ${inMib(residentBytes)} MiB`
      holds &&= stallMs <= STALL_MS_MAX && residentBytes <= MEMORY_BYTES_MAX
    }
    return { holds, figures }
  },
}
