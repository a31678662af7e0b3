/** What a browser that is led to a process would show: every answer must forbid scripts that are not the page's own. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Attack } from './attack.ts'
import { startMirror } from './mirror.ts'
import { exchange } from './wire.ts'

const get = (path: string, ...headers: readonly string[]) => head('GET', path, ...headers)
const head =
  (method: string, path: string, ...headers: readonly string[]) =>
  (host: string) =>
    `${[`${method} ${path} HTTP/1.1`, `host: ${host}`, 'connection: close', ...headers].join('\r\n')}\r\n\r\n`

/** Answers, refusals, what no path has, and what is no HTTP. */
const REQUESTS: Readonly<Record<string, (host: string) => string>> = {
  'the root': get('/'),
  'an answer': get('/v0/genesis'),
  health: get('/livez'),
  metrics: get('/metrics'),
  'a name': get('/v0/ans-entries/by-name/sv-1.sv.ns'),
  'no name': get('/v0/ans-entries/by-name/%3Cscript%3E'),
  'an unknown path': get('/<script>alert(1)</script>'),
  'a file': get('/index.html'),
  'a file below assets': get('/assets/x.js'),
  'a malformed path': get('/%zz'),
  'a console': get('/console'),
  'another host': () => get('/')('evil.example'),
  'another origin': get('/', 'origin: https://evil.example'),
  'another method': head('DELETE', '/v0/genesis'),
  'an unknown method': head('QUERY', '/'),
  'a preflight': head(
    'OPTIONS',
    '/v0/genesis',
    'origin: https://a',
    'access-control-request-method: GET',
  ),
  'a malformed body': (host) =>
    `${head('POST', '/v0/ans-entries/batch', 'content-type: application/json', 'content-length: 1')(host)}{`,
  'a call': head('POST', '/trpc/cluster.stop', 'content-length: 0'),
  CONNECT: head('CONNECT', 'evil.example:443'),
  'no HTTP': () => 'hello\r\n\r\n',
  'too many headers': get('/', `x-a: ${'x'.repeat(100_000)}`),
  'two lengths': head('POST', '/', 'content-length: 1', 'content-length: 2'),
}

export const shownContent: Attack = {
  name: 'shown-content',
  part: 'attacks-sources',
  claim:
    'A browser is led to a node, a validator, a synchronizer, a mirror or the console of a cluster, with a request of any ' +
    'kind. Each answer has a Content-Security-Policy that allows at most files of its own server, and "nosniff".',
  async run({ cluster }) {
    const { content } = JSON.parse(readFileSync(join(cluster.dataDir, 'control.json'), 'utf8'))
    using mirror = await startMirror(Object.values(cluster.urls.nodes))
    const urls: Readonly<Record<string, string>> = {
      node: cluster.urls.nodes['sv-1'] ?? '',
      validator: cluster.urls.validator,
      synchronizer: cluster.urls.synchronizer,
      mirror: mirror.url,
      console: content.url,
    }
    const figures: Record<string, string> = {}
    let holds = true
    for (const [name, url] of Object.entries(urls)) {
      const open: string[] = []
      const statuses = new Set<number | null>()
      for (const [what, request] of Object.entries(REQUESTS)) {
        const { status, text } = await exchange(url, request(new URL(url).host))
        statuses.add(status)
        const [headers = ''] = text.split('\r\n\r\n')
        const [, policy = ''] = /^content-security-policy: (.*)$/im.exec(headers) ?? []
        const isClosed =
          policy.startsWith("default-src 'none';") && !/https?:|\*|unsafe-eval/.test(policy)
        if (status === null || !isClosed || !/^x-content-type-options: nosniff/im.test(headers))
          open.push(`${what} (${status})`)
      }
      holds &&= open.length === 0
      figures[name] =
        `${Object.keys(REQUESTS).length} requests, statuses ${[...statuses].join(' ')}; without: ${open.join(', ') || 'none'}`
    }
    return { holds, figures }
  },
}
