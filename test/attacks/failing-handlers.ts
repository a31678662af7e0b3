import { CERTIFIED_MEDIA_TYPE } from '@quorumscan/api'
import type { Attack } from './attack.ts'
import { inMib, MIB, spentOn } from './process.ts'
import { open } from './wire.ts'

const CONNECTIONS = 16
const REQUESTS = 10_000
/** Requests before the measurement: code is compiled, and the heap grows to its working size. */
const WARM_UP_REQUESTS = 2_000
/** Just below the limit of URL and headers. */
const HEADER_BYTES = 15_000
const MEMORY_BYTES_MAX = 64 * MIB
/** A well-formed token that no list has issued. */
const FOREIGN_TOKEN = 'A'.repeat(40)

const request = [
  `GET /v0/ans-entries?page_size=1&page_token=${FOREIGN_TOKEN} HTTP/1.1`,
  'host: a',
  `accept: ${CERTIFIED_MEDIA_TYPE}`,
  `x-padding: ${'x'.repeat(HEADER_BYTES)}`,
  '\r\n',
].join('\r\n')

/** A failed handler must not leak memory. */
export const failingHandlers: Attack = {
  name: 'failing-handlers',
  claim:
    `An anonymous client sends ${REQUESTS} requests with ${HEADER_BYTES} bytes of headers, whose handler fails ` +
    `synchronously. A node answers each with 400 and uses at most ${inMib(MEMORY_BYTES_MAX)} MiB more memory.`,
  async run({ cluster }) {
    const url = cluster.urls.nodes['sv-1'] ?? ''
    let refusedCount = 0
    const send = async (count: number) => {
      refusedCount = 0
      const counts = await Promise.all(
        Array.from({ length: CONNECTIONS }, () => refusals(url, count / CONNECTIONS)),
      )
      for (const refused of counts) refusedCount += refused
    }
    await send(WARM_UP_REQUESTS)
    const spent = await spentOn(url, () => send(REQUESTS))
    return {
      holds: refusedCount === REQUESTS && spent.residentBytes <= MEMORY_BYTES_MAX,
      figures: {
        'requests that were refused with 400': `${refusedCount} of ${REQUESTS}`,
        'in ms': Math.round(spent.ms),
        [`more memory, MiB (at most ${inMib(MEMORY_BYTES_MAX)})`]: inMib(spent.residentBytes),
      },
    }
  },
}

/** Sends the request `count` times on one connection, one after the other. Returns how many answers were 400. */
function refusals(url: string, count: number): Promise<number> {
  return new Promise((resolve) => {
    const socket = open(url)
    let refusedCount = 0
    socket.on('data', (bytes) => {
      if (bytes.toString('latin1').startsWith('HTTP/1.1 400 ')) refusedCount++
      else socket.destroy()
      if (refusedCount < count) socket.write(request)
      else socket.destroy()
    })
    socket.on('close', () => resolve(refusedCount))
    socket.write(request)
  })
}
