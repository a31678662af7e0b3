/** Requests and frames that their schemas allow or nearly allow, and some with changed bytes. */
import { errorCodesOf, type RouteDef } from '@quorumscan/api'
import { catalogue } from '@quorumscan/errors'
import fc from 'fast-check'
import { type Schema, valuesAndNearly, valuesOf, WRONGNESS } from './fuzz-values.ts'
import { frame, TEXT_FRAME, upgrade } from './wire.ts'

/** The members that both kinds of routes have. */
export type Route = Pick<RouteDef, 'operationId' | 'path' | 'auth'> & {
  readonly method: string
  readonly params?: unknown
  readonly query?: unknown
  readonly headers?: unknown
  readonly body?: unknown
}

/** The pieces in which a message is sent. */
export type Parts = readonly (string | Uint8Array)[]

export type Message = {
  /** Name of the operation, for reports. */
  readonly name: string
  readonly parts: Parts
  /** Whether the client closes its side after the last part. Otherwise the server waits for an incomplete request. */
  readonly isEnded: boolean
  /** Time that the client waits for an answer. */
  readonly waitMs: number
  /** Error codes that a 5xx may have. */
  readonly codes: readonly string[]
}

const EVERY_CODE = Object.keys(catalogue)
/** Some operations wait for the ledger. The fuzzer does not. */
const ANSWER_MS = 2_000
/** A stream is refused immediately; otherwise it waits for events. */
const STREAM_MS = 250

type Expected = Pick<Message, 'codes'> & {
  readonly isStream?: boolean
  /** Whether requests with changed bytes are sent as well. */
  readonly isChanged?: boolean
}

/** The requests unchanged and, as often, with changed bytes. */
export function requestsAndChanged(
  name: string,
  requests: fc.Arbitrary<Parts>,
  { codes, isStream = false, isChanged = true }: Expected,
): fc.Arbitrary<Message> {
  const waitMs = isStream ? STREAM_MS : ANSWER_MS
  const whole = requests.map((parts): Message => ({ name, parts, isEnded: false, codes, waitMs }))
  return isChanged ? fc.oneof(whole, changed(name, requests, waitMs)) : whole
}

/** Requests of a route: half of them valid or nearly valid, half of them with changed bytes. */
export function messagesOf(route: Route, token: string): fc.Arbitrary<Message> {
  const codes = 'errors' in route ? errorCodesOf(route as RouteDef) : ['SERVICE_NOT_RUNNING']
  const partsBy = (wrongness: number | null) => {
    const part = (schema: unknown) =>
      (schema === undefined
        ? fc.constant({})
        : valuesOf(schema as Schema, wrongness)) as fc.Arbitrary<Record<string, unknown>>
    return fc.record({
      params: part(route.params),
      query: part(route.query),
      headers: part(route.headers),
      body:
        typeof route.body === 'object' ? textsOf(part(route.body)) : fc.string({ unit: 'binary' }),
    })
  }
  const requests = fc
    .oneof(partsBy(null), partsBy(WRONGNESS))
    .map(({ params, query, headers, body }) => {
      const segment = (name: string) => asSegment(params?.[name] ?? name)
      const path = route.path.replace(/\{([^}]+)\}/g, (_, name: string) => segment(name))
      const pairs = Object.entries(query ?? {}).map(
        ([name, value]) => `${name}=${asSegment(value)}`,
      )
      const text = route.method === 'GET' ? '' : Buffer.from(body)
      const lines = [
        `${route.method} ${path}${pairs.length > 0 ? '?' : ''}${pairs.join('&')} HTTP/1.1`,
        'host: a',
        'connection: close',
        ...(route.auth === 'none' ? [] : [`authorization: Bearer ${token}`]),
        ...Object.entries(headers ?? {}).map(([name, value]) => `${name}: ${asLine(value)}`),
        ...(route.method === 'GET' ? [] : [`content-length: ${text.length}`]),
      ]
      return [`${lines.join('\r\n')}\r\n\r\n`, text]
    })
  return requestsAndChanged(route.operationId, requests, { codes })
}

/** The values as JSON. Every fourth is another text or damaged JSON. */
function textsOf(values: fc.Arbitrary<unknown>): fc.Arbitrary<string> {
  const texts = values.map((value) => JSON.stringify(value) ?? '')
  const cutOff = fc.tuple(texts, fc.nat()).map(([text, at]) => text.slice(0, at % text.length))
  return fc.oneof(
    { weight: 6, arbitrary: texts },
    { weight: 1, arbitrary: fc.string({ unit: 'binary' }) },
    { weight: 1, arbitrary: cutOff },
  )
}

/** First frames of a WebSocket, and bytes that are not frames. */
export function framesOf(path: string, schema: unknown, token: string): fc.Arbitrary<Message> {
  const begin = upgrade(path, `authorization: Bearer ${token}`)
  const requests = textsOf(valuesAndNearly(schema as Schema)).map((text) => [
    begin,
    frame(TEXT_FRAME, text),
  ])
  return requestsAndChanged(path, requests, { codes: EVERY_CODE, isStream: true })
}

/** The requests with some bytes removed and inserted. */
function changed(
  name: string,
  requests: fc.Arbitrary<Parts>,
  waitMs: number,
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
      return { name: `${name}, changed`, parts: [bytes], isEnded: true, codes: EVERY_CODE, waitMs }
    })
}

const asText = (value: unknown) =>
  typeof value === 'string' ? value : (JSON.stringify(value) ?? '')
const asSegment = (value: unknown) => encodeURIComponent(Buffer.from(asText(value)).toString())
const asLine = (value: unknown) => asText(value).replace(/[^\t -~]/g, '?')
