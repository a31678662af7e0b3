/**
 * A reader of a chaos run that the monitors do not resemble: it has an address, connections and headers of its own, so
 * that a node can lie to it alone. It reads as the SDK does, with its own verified floor.
 */
import { request as sendRequest } from 'node:http'
import { createBodyPieces, type Transport } from '@quorumscan/reader'
import { STRANGER_ADDRESS } from '../../faults/strangers.ts'

/** As a browser on a telephone sends them. */
const HEADERS = {
  'user-agent': 'Mozilla/5.0 (Linux; Android 14) Wallet/7.1',
  'accept-language': 'de-AT,de;q=0.9',
  origin: 'https://wallet.example',
}

/** The transport of the stranger: a connection for each request, over HTTP. */
export function createStrangerTransport(): Transport {
  return {
    request: ({ url, path, method, headers, body, bytesMax, signal }) =>
      new Promise((resolve, reject) => {
        const sent = sendRequest(url + path, {
          method,
          headers: { ...HEADERS, ...headers },
          localAddress: STRANGER_ADDRESS,
          agent: false,
          signal,
        })
        sent.on('error', reject)
        sent.once('response', (response) => {
          const pieces = createBodyPieces(bytesMax)
          response.on('error', reject)
          response.on('data', (chunk: Buffer) => {
            try {
              pieces.add(chunk)
            } catch (error) {
              sent.destroy(error as Error)
            }
          })
          response.once('end', () => {
            const header = (name: string) => response.headers[name]?.toString() ?? null
            resolve({ status: response.statusCode ?? 0, header, body: pieces.bytes() })
          })
          response.once('close', () => reject(new Error('the connection was closed')))
        })
        sent.end(body)
      }),
  }
}
