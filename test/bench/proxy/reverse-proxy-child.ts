/** A minimal reverse proxy to one node: it forwards GETs and answers, and verifies nothing. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Pool } from 'undici'
import { answer, childArgument } from '../../support/child.ts'

export type ReverseProxyArgument = { readonly target: string; readonly connections: number }

/** Headers that concern one connection only (RFC 9110, 7.6.1). */
const HOP_BY_HOP = new Set(['connection', 'keep-alive', 'transfer-encoding'])

const { target, connections } = childArgument<ReverseProxyArgument>()
const pool = new Pool(target, { connections, pipelining: 1 })
const server = createServer((request, response) => {
  pool.dispatch(
    { path: request.url ?? '/', method: 'GET' },
    {
      onRequestStart() {},
      onResponseStart(_controller, status, headers) {
        const forwarded = Object.entries(headers).filter(([name]) => !HOP_BY_HOP.has(name))
        response.writeHead(status, Object.fromEntries(forwarded))
      },
      onResponseData(_controller, data) {
        response.write(data)
      },
      onResponseEnd() {
        response.end()
      },
      onResponseError() {
        response.destroy()
      },
    },
  )
})
server.listen(0, '127.0.0.1', () => {
  const { port } = server.address() as AddressInfo
  answer({ origin: `http://127.0.0.1:${port}` })
})
