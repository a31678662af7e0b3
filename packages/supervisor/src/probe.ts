/** Checks whether a Redis answers in time. A paused process never does. */
import { createConnection } from 'node:net'

/** A healthy Redis answers within milliseconds. */
const PROBE_TIMEOUT_MS = 1000

/** A Redis on a unix socket of this machine. */
export type LocalRedis = {
  readonly path: string
  /** Absent where the default user needs no password. */
  readonly username?: string
  readonly password?: string
}

/** Whether the Redis behind the socket has loaded its data and answers. */
export function isRedisReady(address: LocalRedis): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = createConnection({ path: address.path, timeout: PROBE_TIMEOUT_MS })
    let answer = ''
    const finish = (isReady: boolean) => {
      socket.destroy()
      resolve(isReady)
    }
    for (const event of ['timeout', 'error', 'close']) socket.on(event, () => finish(false))
    socket.on('connect', () => {
      const { username, password } = address
      // Inline commands of the Redis protocol; passwords are hex, so they need no quoting.
      socket.write(`${password === undefined ? '' : `AUTH ${username} ${password}\r\n`}PING\r\n`)
    })
    socket.on('data', (chunk) => {
      answer += chunk.toString('latin1')
      if (answer.endsWith('+PONG\r\n')) finish(true)
      else if (/^-/m.test(answer)) finish(false)
    })
  })
}
