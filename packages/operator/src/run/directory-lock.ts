/** Only one process at a time runs a data directory. A second one would end the processes of the first as leftovers. */
import { once } from 'node:events'
import { closeSync, openSync, rmSync } from 'node:fs'
import { connect, createServer } from 'node:net'
import { join } from 'node:path'
import { type Clock, withTimeout } from '@quorumscan/base'
import { CommandError } from '@quorumscan/runtime'
import type { DataDirectory } from '../data-directory.ts'

const SOCKET = 'run.sock'
/** A process that hangs does not report its id. */
const ANSWER_MS_MAX = 1_000

/**
 * Locks a data directory until it is disposed of, or this process ends for any reason. The lock is a socket on which it
 * listens: another container with the same volume does not see our processes, but reaches the socket.
 *
 * @throws {CommandError} If another process runs the processes of the directory.
 */
export async function acquireLock({ path }: DataDirectory, clock: Clock): Promise<AsyncDisposable> {
  const directory = openSync(path, 'r')
  const socket = socketIn(directory, path)
  try {
    const other = await askOwner(socket, clock)
    if (other !== null) throw new CommandError(`${other} runs the processes of ${path}`)
    rmSync(socket, { force: true }) // A process that crashed leaves the socket file.
    const server = createServer((asker) => asker.on('error', () => {}).end(String(process.pid)))
    server.listen(socket)
    await once(server, 'listening')
    server.unref()
    return {
      async [Symbol.asyncDispose]() {
        await new Promise((resolve) => server.close(resolve))
        closeSync(directory)
      },
    }
  } catch (error) {
    closeSync(directory)
    throw error
  }
}

/** The process that runs the processes of a data directory, as text; null: none does. */
export async function findOwner({ path }: DataDirectory, clock: Clock): Promise<string | null> {
  const directory = openSync(path, 'r')
  try {
    return await askOwner(socketIn(directory, path), clock)
  } finally {
    closeSync(directory)
  }
}

/** The path of a socket must be short, and that of the directory may be long. */
function socketIn(directory: number, path: string): string {
  return process.platform === 'linux' ? `/proc/self/fd/${directory}/${SOCKET}` : join(path, SOCKET)
}

/** The process that listens there, as text; null: no process does. */
async function askOwner(socket: string, clock: Clock): Promise<string | null> {
  const connection = connect(socket)
  try {
    await once(connection, 'connect')
    const answer = async () => {
      const [pid] = await once(connection, 'data')
      return `process ${pid}`
    }
    return await withTimeout({ clock, timeoutMs: ANSWER_MS_MAX }, answer, () => 'another process')
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOENT' || code === 'ECONNREFUSED') return null
    throw error
  } finally {
    connection.destroy()
  }
}
