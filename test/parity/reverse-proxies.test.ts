/** The configurations of reverse proxies pass an offer of another protocol on where a process has a WebSocket. */
import { readFileSync } from 'node:fs'
import { socketRoutes } from '@quorumscan/api'
import { expect, it } from 'vitest'

const read = (file: string) =>
  readFileSync(new URL(`../../deploy/${file}`, import.meta.url), 'utf8')
const paths = Object.values(socketRoutes).flatMap(({ path }) => [path, `/api/validator${path}`])
const others = [
  '/v0/genesis',
  '/api/scan/v0/genesis',
  '/v2/update',
  '/v2/updates/',
  '/x/v2/updates',
]

it('nginx passes a handshake on for the paths of WebSockets, and no other offer', () => {
  const [, map = ''] = /map "\$uri \$http_upgrade" \$quorumscan_upgrade \{([^}]*)\}/.exec(
    read('nginx/quorumscan.conf'),
  ) ?? ['', '']
  const patterns = [...map.matchAll(/"~\*(\S+ websocket\$)" websocket;/g)].map(
    ([, pattern = '']) => new RegExp(pattern, 'i'),
  )
  const isPassed = (path: string, offer: string) =>
    patterns.some((pattern) => pattern.test(`${path} ${offer}`))
  for (const path of paths) {
    expect(isPassed(path, 'websocket'), path).toBe(true)
    expect(isPassed(path, 'h2c'), path).toBe(false)
  }
  for (const path of others) expect(isPassed(path, 'websocket'), path).toBe(false)
})

it('haproxy passes a handshake on for the paths of WebSockets', () => {
  const patterns = [
    ...read('haproxy/quorumscan.cfg').matchAll(/acl has_socket path_reg (\S+)/g),
  ].map(([, pattern = '']) => new RegExp(pattern))
  const isPassed = (path: string) => patterns.some((pattern) => pattern.test(path))
  expect(paths.filter((path) => !isPassed(path))).toEqual([])
  expect(others.filter(isPassed)).toEqual([])
})
