/** A Redis with a replica, and a sentinel that promotes the replica when the primary is down. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Redis } from 'ioredis'
import { freePort } from './free-port.ts'
import { startRedis, type TestRedis } from './redis.ts'
import { required } from './requirements.ts'
import { untilTrue } from './until.ts'

const HOST = '127.0.0.1'
const NAME = 'mymaster'
/** After this time without an answer the sentinel treats the primary as down. */
const DOWN_MS = 1_000

export type TestSentinels = AsyncDisposable & {
  /** The address that clients connect to. */
  readonly address: {
    readonly sentinels: readonly { readonly host: string; readonly port: number }[]
    readonly name: string
  }
  readonly primary: TestRedis
  readonly replica: TestRedis
  /** Stops replication permanently. Later writes are only on the primary. */
  cutReplica(): Promise<void>
  /** Kills the primary; resolves when the replica is the primary. */
  failOver(): Promise<void>
}

/** @param args - Options of both servers, as in `startRedis`. */
export async function startSentinels(args: readonly string[] = []): Promise<TestSentinels> {
  const [primaryPort, replicaPort, port] = [await freePort(), await freePort(), await freePort()]
  const listenOptions = (at: number) => ['--port', String(at), '--bind', HOST, ...args]
  const fastSync = ['--repl-diskless-sync-delay', '0']
  const primary = await startRedis([...listenOptions(primaryPort), ...fastSync])
  const replicaOptions = ['--replicaof', HOST, String(primaryPort)]
  const replica = await startRedis([...listenOptions(replicaPort), ...fastSync, ...replicaOptions])
  const clients = { primary: primary.connect(), replica: replica.connect() }
  const replication = () => clients.replica.info('replication')
  await untilTrue('the replica to copy', async () =>
    (await replication()).includes('master_link_status:up'),
  )
  const file = join(primary.directory, 'sentinel.conf')
  const lines = [
    `port ${port}`,
    `bind ${HOST}`,
    `dir ${primary.directory}`,
    `sentinel monitor ${NAME} ${HOST} ${primaryPort} 1`,
    `sentinel down-after-milliseconds ${NAME} ${DOWN_MS}`,
    `sentinel failover-timeout ${NAME} 10000`,
  ]
  await writeFile(file, `${lines.join('\n')}\n`)
  const sentinel = spawn(required('redis'), [file, '--sentinel'], {
    stdio: 'ignore',
    env: { ...process.env, LC_ALL: 'C' },
  })
  const ended = once(sentinel, 'exit')
  const watcher = new Redis({
    host: HOST,
    port,
    retryStrategy: () => 20,
    maxRetriesPerRequest: null,
  })
  // The servers are killed later, or do not listen yet.
  for (const client of [clients.primary, clients.replica, watcher]) client.on('error', () => {})
  await untilTrue('the sentinel to know the replica', async () => {
    const known = await watcher.call('SENTINEL', 'REPLICAS', NAME)
    return JSON.stringify(known).includes('"master-link-status","ok"')
  })
  return {
    address: { sentinels: [{ host: HOST, port }], name: NAME },
    primary,
    replica,
    async cutReplica() {
      // A password that the primary does not know.
      await clients.replica.config('SET', 'masteruser', 'unknown')
      await clients.replica.config('SET', 'masterauth', 'nothing')
      await clients.primary.call('CLIENT', 'KILL', 'TYPE', 'replica')
      await untilTrue('the replica to be cut off', async () =>
        (await replication()).includes('master_link_status:down'),
      )
    },
    async failOver() {
      await primary.kill()
      await untilTrue('the replica to be the primary', async () =>
        (await replication()).includes('role:master'),
      )
    },
    async [Symbol.asyncDispose]() {
      for (const client of [clients.primary, clients.replica, watcher]) client.disconnect()
      sentinel.kill('SIGKILL')
      await ended
      await replica[Symbol.asyncDispose]()
      await primary[Symbol.asyncDispose]()
    },
  }
}
