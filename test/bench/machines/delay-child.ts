/**
 * A relay between machines, which delays bytes in each direction. It works on connections, not on packets. Of the
 * effects of a long distance it reproduces the delay of bytes and the round trip of a new connection.
 */
import { createConnection, createServer, type Socket } from 'node:net'
import { again, childArgument } from '../child.ts'

export type DelayArgument = {
  /** If set, starts to forward connections from `announced` to `address`. */
  readonly relay: { readonly announced: string; readonly address: string } | null
  /** Delay in each direction. */
  readonly delayMs: number
}

/** Ports of nodes and validators, and of engines. */
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
      client.on('error', () => {}) // The other connection closes this one.
      const connect = () => {
        const server = createConnection({ host: address, port, noDelay: true })
        pass(client, server)
        pass(server, client)
        client.resume()
      }
      // One round trip before the first byte is sent.
      later(() => later(connect))
    })
    await new Promise<void>((resolve) => server.listen(port, announced, resolve))
  }
}

await again(childArgument<DelayArgument>(), async ({ relay, ...rest }) => {
  delayMs = rest.delayMs
  if (relay !== null) await open(relay.announced, relay.address)
  return {}
})
