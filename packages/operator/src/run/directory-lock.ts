/**
 * Only one process at a time runs a data directory. A second one would end the processes of the first as leftovers.
 *
 * The owner listens on the socket with the highest number, `run-N.sock`. A process that finds this socket dead takes the next
 * number by a hard link to its own socket, which already listens. Only one process can make that link. An owner deletes lower
 * numbers, and leaves its own at its end, so that numbers never decrease: a process that was slow between its look and its link
 * sees a higher number afterwards, and starts again.
 */
import { once } from 'node:events'
import { closeSync, linkSync, openSync, readdirSync, rmSync } from 'node:fs'
import { connect, createServer } from 'node:net'
import { join } from 'node:path'
import { type Clock, randomHex, systemRandom, withTimeout } from '@quorumscan/base'
import { CommandError, isErrno } from '@quorumscan/runtime'
import type { DataDirectory } from '../data-directory.ts'

const SOCKET = /^run-([0-9]{1,15})\.sock$/
/** Of a process that tries to take the next number. A crash may leave it. */
const UNNUMBERED = /^run-[0-9a-f]{16}\.new$/
/** Of releases before numbers: it counts as the lowest. */
const SOCKET_WITHOUT_NUMBER = 'run.sock'
/** A process that hangs does not report its id. */
const ANSWER_MS_MAX = 1_000

/**
 * Locks a data directory until it is disposed of, or this process ends for any reason. The lock is a socket on which it
 * listens: another container with the same volume does not see our processes, but reaches the socket.
 *
 * @throws {CommandError} If another process runs the processes of the directory.
 */
export async function acquireLock(data: DataDirectory, clock: Clock): Promise<AsyncDisposable> {
  const directory = openDirectory(data)
  const own = `run-${randomHex(systemRandom, 8)}.new`
  const server = createServer((asker) => asker.on('error', () => {}).end(String(process.pid)))
  const close = async () => {
    if (server.listening) await new Promise((resolve) => server.close(resolve))
    directory.close()
  }
  try {
    server.listen(directory.pathOf(own))
    await once(server, 'listening')
    server.unref()
    while (!(await takeNextNumber(own, data, directory, clock)));
    rmSync(directory.pathOf(own))
    return { [Symbol.asyncDispose]: close }
  } catch (error) {
    rmSync(directory.pathOf(own), { force: true })
    await close()
    throw error
  }
}

/**
 * The process that runs the processes of a data directory, as text; null: none does, or another user made its socket, which
 * the check of the directory reports.
 */
export async function findOwner(data: DataDirectory, clock: Clock): Promise<string | null> {
  const directory = openDirectory(data)
  try {
    const [newest] = directory.sockets()
    return newest === undefined ? null : await askOwner(directory.pathOf(newest.name), clock)
  } catch (error) {
    if (isErrno(error, 'EACCES')) return null
    throw error
  } finally {
    directory.close()
  }
}

type OpenDirectory = ReturnType<typeof openDirectory>

/** The path of a socket must be short, and that of the directory may be long. */
function openDirectory({ path }: DataDirectory) {
  const descriptor = openSync(path, 'r')
  const short = process.platform === 'linux' ? `/proc/self/fd/${descriptor}` : path
  return {
    pathOf: (name: string) => join(short, name),
    /** The highest number first. */
    sockets: () =>
      readdirSync(path)
        .flatMap((name) => {
          if (name === SOCKET_WITHOUT_NUMBER) return [{ name, number: 0 }]
          const digits = SOCKET.exec(name)?.[1]
          return digits === undefined ? [] : [{ name, number: Number(digits) }]
        })
        .sort((one, other) => other.number - one.number),
    unnumbered: () => readdirSync(path).filter((name) => UNNUMBERED.test(name)),
    close: () => closeSync(descriptor),
  }
}

/**
 * Whether the socket `own` now has the highest number. If not, another process was quicker.
 *
 * @throws {CommandError} If the process with the highest number answers.
 */
async function takeNextNumber(
  own: string,
  { path }: DataDirectory,
  directory: OpenDirectory,
  clock: Clock,
): Promise<boolean> {
  const [newest] = directory.sockets()
  const other = newest === undefined ? null : await askOwner(directory.pathOf(newest.name), clock)
  if (other !== null) throw new CommandError(`${other} runs the processes of ${path}`)
  const number = (newest?.number ?? 0) + 1
  const taken = directory.pathOf(`run-${number}.sock`)
  try {
    linkSync(directory.pathOf(own), taken)
  } catch (error) {
    if (isErrno(error, 'EEXIST')) return false
    throw error
  }
  const [first, ...lower] = directory.sockets()
  if (first?.number !== number) {
    rmSync(taken)
    return false
  }
  for (const { name } of lower) rmSync(directory.pathOf(name), { force: true })
  // A process that lost meanwhile may close the connection.
  for (const name of directory.unnumbered().filter((one) => one !== own))
    if ((await askOwner(directory.pathOf(name), clock).catch(() => 'a process')) === null)
      rmSync(directory.pathOf(name), { force: true })
  return true
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
