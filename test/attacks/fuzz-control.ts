/** Messages to the control plane that do no harm if they are accepted. */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import fc from 'fast-check'
import type { RunningCluster } from 'quorumscan/testing'
import { type ControlProcedure, controlProcedures } from 'quorumscan/testing/control-procedures'
import { ownSecret } from '../support/network.ts'
import { type Message, type Parts, requestsAndChanged } from './fuzz-messages.ts'
import { type Schema, valuesAndNearly, valuesOf } from './fuzz-values.ts'
import { frame, TEXT_FRAME, upgrade } from './wire.ts'

/** Procedures without a target: only inputs that they refuse are sent. All others get targets that do not exist. */
const CONSEQUENTIAL = [
  'cluster.down',
  'names.setConfig',
  'chaos.start',
  'chaos.replay',
  'registrations.start',
]

/** URL and token of the control plane. */
export async function controlOf({ dataDir }: RunningCluster) {
  const file = JSON.parse(await readFile(join(dataDir, 'control.json'), 'utf8')) as {
    readonly content: { readonly url: string }
  }
  return { url: file.content.url, token: await ownSecret({ dataDir }, 'secrets/control') }
}

/** Calls of every procedure one by one and in batches, sockets, and paths that do not exist. */
export function controlMessages(url: string, token: string): readonly fc.Arbitrary<Message>[] {
  const head = [`host: ${new URL(url).host}`, 'connection: close', `authorization: Bearer ${token}`]
  const get = (path: string): Parts => [[`GET ${path} HTTP/1.1`, ...head, '\r\n'].join('\r\n')]
  const post = (path: string, body: string): Parts => {
    const lines = ['content-type: application/json', `content-length: ${Buffer.byteLength(body)}`]
    return [[`POST ${path} HTTP/1.1`, ...head, ...lines, '\r\n'].join('\r\n'), body]
  }
  const calls = controlProcedures()
    .filter(({ input, path }) => input !== null || !CONSEQUENTIAL.includes(path))
    .flatMap((procedure) => {
      const { path, kind } = procedure
      const called = inputsOf(procedure).map((input) => {
        const text = textOf(input)
        if (kind === 'subscription') return subscribing(url, token, { path, input })
        return kind === 'query'
          ? get(`/trpc/${path}?input=${encodeURIComponent(text)}`)
          : post(`/trpc/${path}`, text)
      })
      return requestsAndChanged(path, called, {
        codes: [],
        isStream: kind === 'subscription',
        isChanged: !CONSEQUENTIAL.includes(path),
      })
    })
  const anyQueries = fc
    .array(fc.constantFrom(...controlProcedures().filter(({ kind }) => kind === 'query')), {
      minLength: 1,
      maxLength: 5,
    })
    .chain((queries) =>
      fc
        .tuple(...queries.map(inputsOf))
        .map((inputs) =>
          get(
            `/trpc/${queries.map(({ path }) => path).join(',')}?batch=1&input=${encodeURIComponent(textOf({ ...inputs }))}`,
          ),
        ),
    )
  const frames = fc
    .oneof(fc.jsonValue({ maxDepth: 3 }), fc.string({ unit: 'binary' }))
    .map((params) => subscribing(url, token, params))
  const paths = fc.webPath().map((path) => get(`/${path}`))
  return [
    ...calls,
    requestsAndChanged('batch', anyQueries, { codes: [] }),
    requestsAndChanged('frames', frames, { codes: [], isStream: true }),
    requestsAndChanged('paths', paths, { codes: [] }),
  ]
}

function inputsOf({ path, input, accepts }: ControlProcedure): fc.Arbitrary<unknown> {
  if (input === null) return fc.constantFrom(undefined, null, {}, 'nothing')
  if (!CONSEQUENTIAL.includes(path)) return valuesAndNearly(input as Schema)
  return valuesOf(input as Schema, 1).filter((value) => !accepts(value))
}

function subscribing(url: string, token: string, params: unknown): Parts {
  const messages = [
    { method: 'connectionParams', data: { token } },
    { id: 1, jsonrpc: '2.0', method: 'subscription', params },
  ]
  return [
    upgrade('/trpc?connectionParams=1').replace('host: a', `host: ${new URL(url).host}`),
    ...messages.map((one) => frame(TEXT_FRAME, textOf(one))),
  ]
}

const textOf = (value: unknown) => JSON.stringify(value) ?? ''
