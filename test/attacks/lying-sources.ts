/**
 * A source of a mirror lies, or is silent, in each way. The mirror has one honest source next to it, and is a process of its
 * own.
 */
import type { RequestListener } from 'node:http'
import type { Socket } from 'node:net'
import { gzipSync } from 'node:zlib'
import { createSystemClock } from '@quorumscan/base'
import { listen, send, serve } from '@quorumscan/testkit'
import { CERTIFIED_MEDIA_TYPE } from '@quorumscan/verifier/certified'
import type { Attack } from './attack.ts'
import { startMirror } from './mirror.ts'

const NAME_PATH = '/v0/ans-entries/by-name/sv-2.sv.ns'
/** A mirror waited 3 s for each silent answer. One more source costs 150 ms. */
const ANSWER_MS_MAX = 2_000
/** It has no genesis, and waits 3 s for what each source answers: a majority decides, not the fastest. */
const FIRST_MS_MAX = 5_000
const ROUNDS = 3
/** Above the time for which a mirror caches an answer. */
const PAUSE_MS = 1_100
const DRIP_MS = 20
const SCRIPT = '<script>alert(1)</script>'

/** 64 MiB of zeros. */
const BOMB = gzipSync(Buffer.alloc(64 * 1024 * 1024))

const clock = createSystemClock()

type Lie = RequestListener | ((socket: Socket) => void)
const html = (status: number): RequestListener => {
  return (_request, response) =>
    response
      .writeHead(status, { 'content-type': 'text/html', 'content-length': SCRIPT.length })
      .end(SCRIPT)
}
const answers: Readonly<Record<string, RequestListener>> = {
  garbage: (_request, response) => response.end('{}'),
  'a 404 of its own': (_request, response) => response.writeHead(404).end(),
  'a 404 in the form of a node': (_request, response) =>
    response
      .writeHead(404)
      .end(
        JSON.stringify({ error: 'no', code: 'ENTRY_NOT_FOUND', definite: true, retryable: false }),
      ),
  'a script': html(200),
  'a script with 400': html(400),
  'a redirect': (_request, response) => response.writeHead(302, { location: '/' }).end(),
  'a redirect to itself': ({ url }, response) =>
    response.writeHead(307, { location: url ?? '/' }).end(),
  'a part': (_request, response) =>
    response.writeHead(206, { 'content-range': 'bytes 0-1/9' }).end('{}'),
  'a bomb': (_request, response) =>
    response.writeHead(200, { 'content-encoding': 'gzip' }).end(BOMB),
  'no content': (_request, response) => response.writeHead(204).end(),
}
/** What a server sends that never answers. */
export const silences: Readonly<Record<string, (socket: Socket) => void>> = {
  nothing: () => {},
  'headers that drip': (socket) => drip(socket, 'HTTP/1.1 200 OK\r\n', 'x: y\r\n'),
  'a huge length': (socket) =>
    socket.write('HTTP/1.1 200 OK\r\ncontent-length: 999999999999\r\n\r\n{'),
  'half a body': (socket) => socket.write('HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\n{'),
  'a body that drips': (socket) =>
    drip(socket, 'HTTP/1.1 200 OK\r\ncontent-length: 9999\r\n\r\n', 'x'),
  'interim answers': (socket) => drip(socket, '', 'HTTP/1.1 103 Early Hints\r\n\r\n'.repeat(1000)),
}

function drip(socket: Socket, first: string, more: string): void {
  const end = new AbortController()
  socket.once('close', () => end.abort())
  socket.write(first)
  const next = (): unknown =>
    clock.delay(DRIP_MS, end.signal).then(
      () => {
        socket.write(more)
        return next()
      },
      () => {},
    )
  next()
}

export const lyingSources: Attack = {
  name: 'lying-sources',
  part: 'attacks-sources',
  claim:
    'The first source of a mirror answers with garbage, 404, a script or a redirect, or hangs, drips or sends interim ' +
    'answers without an end. After its first answer the mirror answers from its other source within 2 s, asks the liar no more than once for ' +
    'each kind of request, and passes on no script.',
  async run({ cluster }) {
    const honest = cluster.urls.nodes['sv-1'] ?? ''
    const figures: Record<string, string> = {}
    let holds = true
    const attack = async (name: string, lie: Lie, isSilent: boolean) => {
      let lieCount = 0
      const counted = (...input: Parameters<RequestListener>) => {
        lieCount++
        ;(lie as RequestListener)(...input)
      }
      await using liar = isSilent
        ? await listen((socket) => {
            socket.on('error', () => {})
            socket.once('data', () => {
              lieCount++
              ;(lie as (socket: Socket) => void)(socket)
            })
          })
        : await serve(counted)
      const liarUrl = liar.url.replace('tcp:', 'http:')
      using mirror = await startMirror([liarUrl, honest])
      let slowestMs = 0
      let problem = ''
      for (let round = 0; round < ROUNDS; round++) {
        for (const path of [NAME_PATH, '/v0/certificate', '/v0/genesis']) {
          const beganMs = clock.monotonicMs()
          const accept = path === NAME_PATH ? CERTIFIED_MEDIA_TYPE : 'application/json'
          const { status, text, type, headers } = await send(mirror.url + path, {
            headers: { accept },
          })
          const tookMs = clock.monotonicMs() - beganMs
          const isFirst = round === 0 && path === NAME_PATH
          if (isFirst && tookMs > FIRST_MS_MAX) problem = 'the first is too late'
          if (!isFirst) slowestMs = Math.max(slowestMs, tookMs)
          const csp = headers.get('content-security-policy') ?? ''
          if (status !== 200) problem = `${status} for ${path}`
          if (text.includes('<script') || type === 'text/html') problem = `a script at ${path}`
          if (!csp.startsWith("default-src 'none'")) problem = `no policy at ${path}`
        }
        await clock.delay(PAUSE_MS)
      }
      // The genesis is asked of all sources at once; then the first other request finds the liar.
      if (lieCount > 2) problem ||= `asked ${lieCount} times`
      if (slowestMs > ANSWER_MS_MAX) problem ||= 'too late'
      holds &&= problem === ''
      figures[name] =
        `${lieCount} lies, slowest answer ${Math.round(slowestMs)} ms ${problem}`.trim()
    }
    for (const [name, lie] of Object.entries(answers)) await attack(name, lie, false)
    for (const [name, silence] of Object.entries(silences)) await attack(name, silence, true)
    return { holds, figures }
  },
}
