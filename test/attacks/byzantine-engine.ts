/**
 * The engine of one super-validator, controlled by an attacker with that operator's keys and machine. Its mempool
 * accepts every transaction and sends it to all other engines.
 */

import { once } from 'node:events'
import { readFile, rename } from 'node:fs/promises'
import { Agent, request } from 'node:http'
import { connect, createServer, type Socket } from 'node:net'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { createSystemClock, readVarint } from '@quorumscan/base'
import { untilTrue } from '@quorumscan/testkit'
import { memberOf } from '@quorumscan/verifier'
import type { RunningCluster } from 'quorumscan/testing'

const clock = createSystemClock()
/** Time that a transaction stays in the attacker's mempool, until each peer has received it. */
const STAY_MS = 2_000
/** Concurrent requests to the engine. */
const WORKERS = 8
/** Pause after a failed request. */
const RETRY_MS = 200

// The first byte of a request of the engine (its field in ABCI's `Request`), and answers with their length prefix.
/** The longest varint of 32 bits. */
const LENGTH_BYTES_MAX = 5
const FLUSH = 0x12
const CHECK_TX = 0x42
const FLUSHED = Buffer.of(2, 0x1a, 0)
const ACCEPTED = Buffer.of(2, 0x4a, 0)
const REFUSED = Buffer.of(4, 0x4a, 2, 8, 1)
/** The last bytes of a request that checks a transaction again after a block. */
const IS_RECHECK = Buffer.of(0x10, 1)

export type ByzantineEngine = AsyncDisposable & {
  /** Sends the transactions to the other engines repeatedly until the signal aborts. Returns how many it has sent. */
  flood(transactions: readonly Uint8Array[], signal: AbortSignal): Promise<number>
}

/** Intercepts the connection of this engine to its application, and restarts the engine. Disposal restores both. */
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
            // The synchronizer may be restarting the engine.
            await call({ socketPath: rpc, agent }, 'broadcast_tx_async', params).catch(() =>
              clock.delay(RETRY_MS),
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
    return Number(memberOf(net, 'result', 'n_peers')) > 0
  })
}

async function call(
  at: { readonly socketPath: string; readonly agent?: Agent },
  method: string,
  params: Readonly<Record<string, string>>,
): Promise<unknown> {
  const outgoing = request({ ...at, method: 'POST' })
  outgoing.on('error', () => {}) // The reader of the answer also gets the error.
  outgoing.end(JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }))
  const [response] = await once(outgoing, 'response')
  return JSON.parse(await text(response))
}

/** Answers requests that check transactions, and forwards all others to the application. */
function intercept(engine: Socket, application: Socket): void {
  const sinceMs = new Map<string, number>()
  let isMempool = false
  const answer = (message: Buffer): Buffer | null => {
    isMempool ||= message[0] === CHECK_TX
    if (!isMempool) return null
    if (message[0] === FLUSH) return FLUSHED
    const key = message.subarray(10, 300).toString('latin1')
    const firstMs = sinceMs.get(key) ?? clock.monotonicMs()
    const isOver = clock.monotonicMs() - firstMs > STAY_MS
    if (isOver) sinceMs.delete(key)
    else sinceMs.set(key, firstMs)
    return isOver && message.subarray(-2).equals(IS_RECHECK) ? REFUSED : ACCEPTED
  }
  let rest = Buffer.alloc(0)
  engine.on('data', (chunk) => {
    rest = Buffer.concat([rest, chunk])
    for (;;) {
      const length = readVarint(rest, LENGTH_BYTES_MAX)
      if (length === null) return
      const end = length.end + length.value
      if (rest.byteLength < end) return
      const own = answer(rest.subarray(length.end, end))
      if (own === null) application.write(rest.subarray(0, end))
      else engine.write(own)
      rest = rest.subarray(end)
    }
  })
  application.pipe(engine)
  for (const [one, other] of [
    [engine, application],
    [application, engine],
  ] as const) {
    one.on('error', () => {}) // 'close' follows.
    one.on('close', () => other.destroy())
  }
}
