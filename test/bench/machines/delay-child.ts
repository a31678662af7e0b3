/**
 * Stands between machines and forwards bytes, each way with a given delay. It knows connections and bytes alone. Of the
 * effects of a long way on packets it has only the round trip in which a connection is made.
 */
import { createConnection, createServer, type Socket } from 'node:net'
import { again, childArgument } from '../child.ts'

export type DelayArgument = {
  /** From now on: forwards connections to `announced` to `address`. */
  readonly between: { readonly announced: string; readonly address: string } | null
  /** One way. */
  readonly delayMs: number
}

/** Where machines are reached: nodes and validators, and engines. */
const PORTS = [4611, 26_656]

let delayMs = 0

function later(pass: () => void): void {
  if (delayMs === 0) pass()
  else setTimeout(pass, delayMs)
}

function pass(from: Socket, to: Socket): void {
  from.on('data', (chunk) => later(() => to.write(chunk)))
  from.on('end', () => later(() => to.end()))
  from.on('close', () => later(() => to.destroy()))
  from.on('error', () => {}) // 'close' follows.
}

async function open(announced: string, address: string): Promise<void> {
  for (const port of PORTS) {
    const server = createServer({ noDelay: true, pauseOnConnect: true }, (client) => {
      client.on('error', () => {}) // It is closed with the other one.
      const connect = () => {
        const server = createConnection({ host: address, port, noDelay: true })
        pass(client, server)
        pass(server, client)
        client.resume()
      }
      // There and back, before the first byte leaves.
      later(() => later(connect))
    })
    await new Promise<void>((resolve) => server.listen(port, announced, resolve))
  }
}

await again(childArgument<DelayArgument>(), async ({ between, ...rest }) => {
  delayMs = rest.delayMs
  if (between !== null) await open(between.announced, between.address)
  return {}
})
