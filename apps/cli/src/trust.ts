/** Which certificates of other machines a command trusts, in addition to those built into Node.js. */
import { type ClientTls, type Env, openClientTls } from '@quorumscan/base'
import { createFetch } from '@quorumscan/runtime'

const VARIABLE = 'QS_PEER_CA'

/** @throws {EnvError} If `QS_PEER_CA` is set to a file that cannot be read, or has no certificates. */
export function openTrust(env: Env): ClientTls | null {
  const file = env[VARIABLE]
  return openClientTls({ ca: file ? { variable: VARIABLE, file } : null, own: null })
}

/**
 * Lets `fetch` trust the authority of `QS_PEER_CA`, for whatever the command asks. The file is read when the first request is
 * sent: a command that asks nobody, such as the one that makes the first key, needs none. A request rejects with the EnvError
 * of `openTrust`.
 */
export function trustPeers(env: Env): void {
  if (!env[VARIABLE]) return
  let trusting: typeof fetch | null = null
  globalThis.fetch = async (input, init) => {
    trusting ??= createFetch(openTrust(env))
    return trusting(input, init)
  }
}
