/**
 * A relay between machines, which delays bytes in each direction. It works on connections, not on packets. Of the
 * effects of a long distance it reproduces the delay of bytes and the round trip of a new connection.
 */
import { createConnection, createServer, type Socket } from 'node:net'
import { again, childArgument } from '../../support/child.ts'

export type DelayArgument = {
  /** If set, starts to forward connections from `announced` to `address`. */
  readonly relay: { readonly announced: string; readonly address: string } | null
  /** Delay in each direction. */
  readonly delayMs: number
}

/** Ports of nodes and validators, and of engines. */
const PORTS = [4611, 26_656]

let delayMs = 0

function delayed(run: () => void): void {
  if (delayMs === 0) run()
  else setTimeout(run, delayMs)
}

function forward(from: Socket, to: Socket): void {
  from.on('data', (chunk) => delayed(() => to.write(chunk)))
  from.on('end', () => delayed(() => to.end()))
  from.on('close', () => delayed(() => to.destroy()))
  from.on('error', () => {}) // 'close' follows.
}

async function open(announced: string, address: string): Promise<void> {
  for (const port of PORTS) {
    const server = createServer({ noDelay: true, pauseOnConnect: true }, (client) => {
      client.on('error', () => {}) // The other connection closes this one.
      const connect = () => {
        const server = createConnection({ host: address, port, noDelay: true })
        forward(client, server)
        forward(server, client)
        client.resume()
      }
      // One round trip before the first byte is sent.
      delayed(() => delayed(connect))
    })
    await new Promise<void>((resolve) => server.listen(port, announced, resolve))
  }
}

await again(childArgument<DelayArgument>(), async ({ relay, ...rest }) => {
  delayMs = rest.delayMs
  if (relay !== null) await open(relay.announced, relay.address)
  return {}
})
