/** Whether a Redis, and the scan proxy of a validator, answer within a bound: a paused process never does. */
import { createConnection } from 'node:net'
import { ask } from '@quorumscan/runtime'

/** A healthy Redis answers within milliseconds. */
const PROBE_TIMEOUT_MS = 1000
/** The proxy's own wait for its nodes is 2 s (D-38). */
const QUORUM_TIMEOUT_MS = 3000

/** On a unix socket of this machine. */
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
    socket.on('timeout', () => finish(false))
    socket.on('error', () => finish(false))
    socket.on('close', () => finish(false))
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

/** Whether the scan proxy of the validator at this address gets an answer from enough nodes. */
export async function answersByQuorum(validatorUrl: string): Promise<boolean> {
  const url = `${validatorUrl}/v0/scan-proxy/dso-party-id`
  return (await ask(url, { timeoutMs: QUORUM_TIMEOUT_MS })).status === 200
}
