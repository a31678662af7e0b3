/**
 * Accepts the connections of other engines, and passes them to this member's engine, which listens on a loopback port. An
 * engine takes a fixed number of connections and gives each some seconds for its handshake. Without this limit, idle
 * connections of one address would keep all members out. Here a connection counts as pending until the engine has sent more
 * than a handshake, which it does only for peers that it admits (`application.ts`).
 */
import { once } from 'node:events'
import { type AddressInfo, createConnection, createServer, type Socket } from 'node:net'
import { afterDelay, type Clock, held } from '@quorumscan/base'
import { ConnectionLimiter } from '@quorumscan/server'

/**
 * Pending connections. In all: the engine's limit less the largest network (`engine-files.ts`). Of an address: the number
 * of members on one machine, or behind one address, that dial at once.
 */
const PENDING = {
  pool: 'handshakes with an engine',
  max: 256,
  perClientMax: 16,
  perNetworkMax: 64,
}
/** The engine itself gives 3 s each for keys and names, and 5 s for the application to admit the peer. */
const HANDSHAKE_MS = 12_000
/** What the engine sends: its key, and a frame each for its signature and for its description. */
const HANDSHAKE_BYTES = 35 + 2 * 1044
const LOOPBACK = '127.0.0.1'

/** Passes bytes between the two until either ends. */
export type JoinSockets = (client: Socket, engine: Socket) => void

/**
 * Listens until it is disposed of.
 *
 * @param options.address - `host:port`
 * @throws {Error} If the address cannot be listened on.
 */
export async function acceptForEngine(options: {
  readonly address: string
  readonly join?: JoinSockets | undefined
  readonly clock: Clock
}) {
  const { address, join = joinSockets, clock } = options
  const pending = new ConnectionLimiter(PENDING)
  /** The clients, each with its connection to the engine. */
  const clients = held(
    {
      owner: 'cometbft',
      name: 'connections of other engines',
      kind: 'state',
      bound: 'those that the engine accepts',
    },
    new Map<Socket, Socket>(),
  )
  let enginePort: number | null = null

  const accept = (client: Socket) => {
    client.on('error', () => {}) // 'close' follows.
    if (enginePort === null) return void client.destroy()
    const to = { host: LOOPBACK, port: enginePort }
    const engine = createConnection({ ...to, allowHalfOpen: true, noDelay: true })
    clients.set(client, engine)
    const admitted = new AbortController()
    const slot = pending.acquire(client.remoteAddress, { evict: () => client.destroy() })
    const leave = () => {
      admitted.abort()
      slot?.release()
    }
    // Unless the engine has admitted it, or it has ended.
    const handshake = { clock, ms: HANDSHAKE_MS, signal: admitted.signal }
    void afterDelay(handshake, () => client.destroy())
    join(client, engine)
    const count = () => {
      if (engine.bytesRead <= HANDSHAKE_BYTES) return
      engine.off('data', count)
      leave()
    }
    engine.on('data', count)
    client.once('close', () => {
      clients.delete(client)
      leave()
      engine.destroySoon()
    })
  }
  const server = createServer({ allowHalfOpen: true, noDelay: true }, accept)
  const { host, port } = parseAddress(address)
  server.listen({ host, port })
  await once(server, 'listening')
  return {
    /** `host:port` on which the next engine is to listen. */
    async nextEngineAddress(): Promise<string> {
      enginePort = await freePort()
      return `${LOOPBACK}:${enginePort}`
    },
    /** Closes the connection that the engine sees from this port. */
    disconnect(port: number): void {
      for (const [client, engine] of clients) if (engine.localPort === port) client.destroy()
    },
    async [Symbol.asyncDispose](): Promise<void> {
      for (const client of clients.keys()) client.destroy()
      await server[Symbol.asyncDispose]()
    },
  }
}

function joinSockets(client: Socket, engine: Socket): void {
  client.pipe(engine)
  engine.pipe(client)
  engine.on('error', () => {}) // 'close' follows.
  // What was sent before the end still arrives.
  engine.once('close', () => client.destroySoon())
}

/** An IPv6 address is in brackets. */
function parseAddress(address: string): { readonly host: string; readonly port: number } {
  const { hostname, port } = new URL(`tcp://${address}`)
  return { host: hostname.replace(/^\[(.*)\]$/, '$1'), port: Number(port) }
}

async function freePort(): Promise<number> {
  await using server = createServer().listen({ host: LOOPBACK, port: 0 })
  await once(server, 'listening')
  return (server.address() as AddressInfo).port // It listens on TCP.
}
