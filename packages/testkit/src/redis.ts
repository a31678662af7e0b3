/** A redis-server process for one test, on a Unix socket in a temporary directory. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { Redis } from 'ioredis'
import { createDirectory } from './directory.ts'
import { required } from './requirements.ts'
import { untilTrue } from './until.ts'

export type TestRedis = AsyncDisposable & {
  readonly socketPath: string
  readonly pid: number
  readonly directory: string
  /** Connects as the default user. The caller closes the client. */
  connect(): Redis
  /** Sends SIGKILL and waits for the exit. */
  kill(): Promise<void>
  /** Starts the server again on the same files and socket. */
  restart(): Promise<void>
}

/** As every Redis of the product has a limit. Tests that fill it pass their own. */
const MEMORY_MAX = '512mb'

/** `args` are redis-server options such as `['--appendonly', 'yes']`. */
export async function startRedis(args: readonly string[] = []): Promise<TestRedis> {
  const command = required('redis')
  const { path: directory, ...temporary } = createDirectory()
  const socketPath = join(directory, 's')
  const start = async () => {
    const server = spawn(
      command,
      [
        '--port',
        '0',
        '--unixsocket',
        socketPath,
        '--dir',
        directory,
        '--save',
        '',
        '--maxmemory',
        MEMORY_MAX,
        ...args,
      ],
      // Redis 8 and Valkey refuse to start in a locale that the machine does not have.
      { stdio: 'ignore', env: { ...process.env, LC_ALL: 'C' } },
    )
    const exited = once(server, 'exit')
    const probe = new Redis({ path: socketPath, lazyConnect: true, retryStrategy: () => 20 })
    probe.on('error', () => {}) // Not listening yet; the wait below decides.
    try {
      await untilTrue(
        'redis-server to answer',
        async () => (await probe.ping().catch(() => null)) !== null,
      )
    } finally {
      probe.disconnect()
    }
    return { server, exited }
  }
  let running = await start()
  const kill = async () => {
    running.server.kill('SIGKILL')
    await running.exited
  }
  return {
    socketPath,
    directory,
    get pid() {
      return running.server.pid ?? 0
    },
    connect: () => new Redis({ path: socketPath }),
    kill,
    restart: async () => {
      running = await start()
    },
    [Symbol.asyncDispose]: async () => {
      await kill()
      temporary[Symbol.dispose]()
    },
  }
}
