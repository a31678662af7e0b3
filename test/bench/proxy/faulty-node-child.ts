/** A faulty node: it forwards the answers of another node, either late or with other owners. */
import { createServer } from 'node:http'
import { buffer } from 'node:stream/consumers'
import { createSystemClock } from '@quorumscan/base'
import { Pool } from 'undici'
import { answer, childArgument } from '../../support/child.ts'

export type FaultyNodeArgument = {
  readonly port: number
  /** URL of an honest node. */
  readonly target: string
  readonly fault: 'slow' | 'lying'
}

/** The delay in the budgets of test/bench/README.md. */
const SLOW_MS = 300
const HOP_BY_HOP = new Set(['connection', 'keep-alive', 'transfer-encoding', 'content-length'])

const { port, target, fault } = childArgument<FaultyNodeArgument>()
const clock = createSystemClock()
const pool = new Pool(target, { connections: 16, pipelining: 1 })
const server = createServer(async (request, response) => {
  try {
    if (fault === 'slow') await clock.delay(SLOW_MS)
    const { statusCode, headers, body } = await pool.request({
      path: request.url ?? '/',
      method: request.method === 'POST' ? 'POST' : 'GET',
      headers: { 'content-type': request.headers['content-type'] ?? 'text/plain' },
      body: request.method === 'POST' ? await buffer(request) : null,
    })
    const honest = await body.text()
    // A valid answer, in which every entry belongs to another user.
    const text = fault === 'lying' ? honest.replaceAll('"user":"', '"user":"x') : honest
    const forwarded = Object.entries(headers).filter(([name]) => !HOP_BY_HOP.has(name))
    response.writeHead(statusCode, {
      ...Object.fromEntries(forwarded),
      'content-length': Buffer.byteLength(text),
    })
    response.end(text)
  } catch {
    response.destroy()
  }
})
server.listen(port, '127.0.0.1', () => answer({}))
