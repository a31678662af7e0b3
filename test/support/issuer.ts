/** An issuer of tokens for users, as a validator's operator has one: its keys are fetched from it by https. */
import { generateKeyPairSync, sign } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { createSystemClock } from '@quorumscan/base'
import { DEFAULT_AUDIENCE } from '@quorumscan/model'

const clock = createSystemClock()

export type Issuer = AsyncDisposable & {
  /** Of its keys, which sign by EdDSA. */
  readonly url: string
  /** A token of an hour. */
  token(user: string): string
}

/** @param tls - Of the server that has the keys. */
export async function startIssuer(
  host: string,
  tls: { readonly cert: string; readonly key: string },
): Promise<Issuer> {
  const { publicKey, privateKey } = generateKeyPairSync('ed25519')
  const keys = JSON.stringify({ keys: [{ ...publicKey.export({ format: 'jwk' }), kid: 'one' }] })
  const server = createServer(tls, (_, response) => {
    response.setHeader('content-type', 'application/json').end(keys)
  })
  await once(server.listen(0, host), 'listening')
  const { port } = server.address() as AddressInfo
  return {
    url: `https://${host}:${port}/keys?of=users`,
    token(user) {
      const seconds = Math.floor(clock.nowMicros() / 1_000_000)
      const claims = { sub: user, aud: DEFAULT_AUDIENCE, exp: seconds + 3600 }
      const text = [{ alg: 'EdDSA', kid: 'one' }, claims].map(encode).join('.')
      return `${text}.${sign(null, Buffer.from(text), privateKey).toString('base64url')}`
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

function encode(part: object): string {
  return Buffer.from(JSON.stringify(part)).toString('base64url')
}
