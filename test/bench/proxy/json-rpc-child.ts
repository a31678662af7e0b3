/** Servers that ethers.js accepts as nodes of one network. Each returns the same value from memory. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { json } from 'node:stream/consumers'
import { answer, childArgument } from '../../support/child.ts'

/**
 * A hung server never answers a read. It answers what ethers asks at its start, because ethers reads nothing before all
 * servers have answered that. At the address of a dead one no process listens.
 */
export type LastServer = 'fine' | 'hung' | 'dead'
export type JsonRpcArgument = {
  readonly count: number
  readonly last: LastServer
}
type Call = { readonly id: number; readonly method: string }

/** A value of the size of an entry. */
const VALUE = `0x${'ab'.repeat(172)}`
const RESULTS: Readonly<Record<string, string>> = {
  eth_chainId: '0x1',
  net_version: '1',
  eth_blockNumber: '0x10',
  eth_call: VALUE,
}

const { count, last } = childArgument<JsonRpcArgument>()
const result = ({ id, method }: Call) => ({ jsonrpc: '2.0', id, result: RESULTS[method] ?? null })

function serve(kind: LastServer): Promise<string> {
  const server = createServer(async (request, response) => {
    const calls = (await json(request)) as Call | readonly Call[]
    if (kind === 'hung' && [calls].flat().some(({ method }) => method === 'eth_call')) return
    const body = JSON.stringify(Array.isArray(calls) ? calls.map(result) : result(calls as Call))
    response.writeHead(200, { 'content-type': 'application/json' }).end(body)
  })
  return new Promise((resolve) => {
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address() as AddressInfo
      if (kind === 'dead') server.close()
      resolve(`http://127.0.0.1:${port}`)
    })
  })
}

const urls = Array.from({ length: count }, (_, index) => serve(index === count - 1 ? last : 'fine'))
answer({ urls: await Promise.all(urls) })
