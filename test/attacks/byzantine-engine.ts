/**
 * The engine of one super-validator under the control of an attacker, who has that operator's keys and machine: its
 * mempool accepts every transaction and passes it to all other engines.
 */
import { once } from 'node:events'
import { readFile, rename } from 'node:fs/promises'
import { Agent, request } from 'node:http'
import { connect, createServer, type Socket } from 'node:net'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { createSystemClock } from '@quorumscan/base'
import { untilTrue } from '@quorumscan/testkit'
import type { RunningCluster } from 'quorumscan/testing'

const clock = createSystemClock()
/** A transaction stays in the attacker's mempool for so long: until each peer has it. */
const KEPT_MS = 2_000
/** Requests to the engine at a time. */
const WORKERS = 8
/** After a request that failed. */
const AGAIN_MS = 200

// The first byte of a request of the engine (its field in ABCI's `Request`), and whole answers behind their length.
const FLUSH = 0x12
const CHECK_TX = 0x42
const FLUSHED = Buffer.of(2, 0x1a, 0)
const ACCEPTED = Buffer.of(2, 0x4a, 0)
const REFUSED = Buffer.of(4, 0x4a, 2, 8, 1)
/** How a request ends that checks a transaction again after a block. */
const IS_RECHECK = Buffer.of(0x10, 1)

export type ByzantineEngine = AsyncDisposable & {
  /** Passes the transactions to the other engines in turn, again and again, until the signal; how many. */
  flood(transactions: readonly Uint8Array[], signal: AbortSignal): Promise<number>
}

/** Takes the place of the application of this engine, and restarts the engine. Disposing gives it back. */
export async function takeOverEngine(
  cluster: RunningCluster,
  node: string,
): Promise<ByzantineEngine> {
  const config = await readFile(
    join(cluster.dataDir, 'engines', node, 'config/config.toml'),
    'utf8',
  )
  const socketOf = (setting: string) =>
    new RegExp(`^${setting} = "unix://(.*)"$`, 'm').exec(config)?.[1] ?? ''
  const [abci, rpc] = [socketOf('proxy_app'), socketOf('laddr')]
  const application = `${abci}r`
  await rename(abci, application)
  const server = createServer((engine) => intercept(engine, connect(application))).listen(abci)
  await once(server, 'listening')
  await restartEngine(cluster, node, rpc)
  const agent = new Agent({ keepAlive: true, maxSockets: WORKERS })
  return {
    async flood(transactions, signal) {
      let count = 0
      await Promise.all(
        Array.from({ length: WORKERS }, async () => {
          while (!signal.aborted) {
            const tx = transactions[count++ % transactions.length] ?? new Uint8Array()
            const params = { tx: Buffer.from(tx).toString('base64') }
            // Its synchronizer restarts the engine where it does not get on.
            await call({ socketPath: rpc, agent }, 'broadcast_tx_async', params).catch(() =>
              clock.delay(AGAIN_MS),
            )
          }
        }),
      )
      return count
    },
    async [Symbol.asyncDispose]() {
      agent.destroy()
      server.close()
      await rename(application, abci)
      await restartEngine(cluster, node, rpc)
    },
  }
}

async function restartEngine(cluster: RunningCluster, node: string, rpc: string): Promise<void> {
  await cluster.kill(node, { part: 'cometbft' })
  await cluster.heal(node)
  await untilTrue(`the engine of ${node} to be connected`, async () => {
    const net = await call({ socketPath: rpc }, 'net_info', {}).catch(() => null)
    return Number(Object(Object(net).result).n_peers) > 0
  })
}

async function call(
  at: { readonly socketPath: string; readonly agent?: Agent },
  method: string,
  params: Readonly<Record<string, string>>,
): Promise<unknown> {
  const asked = request({ ...at, method: 'POST' })
  asked.on('error', () => {}) // The reader of the answer gets the error as well.
  asked.end(JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }))
  const [response] = await once(asked, 'response')
  return JSON.parse(await text(response))
}

/** What checks transactions is answered here; all else is the application's. */
function intercept(engine: Socket, application: Socket): void {
  const sinceMs = new Map<string, number>()
  let isMempool = false
  const answer = (message: Buffer): Buffer | null => {
    isMempool ||= message[0] === CHECK_TX
    if (!isMempool) return null
    if (message[0] === FLUSH) return FLUSHED
    const key = message.subarray(10, 300).toString('latin1')
    const firstMs = sinceMs.get(key) ?? clock.monotonicMs()
    const isOver = clock.monotonicMs() - firstMs > KEPT_MS
    if (isOver) sinceMs.delete(key)
    else sinceMs.set(key, firstMs)
    return isOver && message.subarray(-2).equals(IS_RECHECK) ? REFUSED : ACCEPTED
  }
  let rest = Buffer.alloc(0)
  engine.on('data', (chunk) => {
    rest = Buffer.concat([rest, chunk])
    for (;;) {
      const end = rest.findIndex((byte) => byte < 0x80) + 1
      const length = rest
        .subarray(0, end)
        .reduce((sum, byte, at) => sum + (byte & 0x7f) * 128 ** at, 0)
      if (end === 0 || rest.byteLength < end + length) return
      const own = answer(rest.subarray(end, end + length))
      if (own === null) application.write(rest.subarray(0, end + length))
      else engine.write(own)
      rest = rest.subarray(end + length)
    }
  })
  application.pipe(engine)
  for (const [one, other] of [
    [engine, application],
    [application, engine],
  ] as const) {
    one.on('error', () => {}) // The close that follows counts.
    one.on('close', () => other.destroy())
  }
}
