/** An issuer of users' tokens, like that of a validator's operator. The validator fetches its keys over HTTPS. */

import { generateKeyPairSync, sign } from 'node:crypto'
import { createSystemClock } from '@quorumscan/base'
import { DEFAULT_AUDIENCE } from '@quorumscan/model'
import { serve } from '@quorumscan/testkit'

const clock = createSystemClock()

export type Issuer = AsyncDisposable & {
  /** URL of its EdDSA keys. */
  readonly url: string
  /** Issues a token that is valid for an hour. */
  token(user: string): string
}

/** @param tls - Certificate and key of the HTTPS server. */
export async function startIssuer(
  host: string,
  tls: { readonly cert: string; readonly key: string },
): Promise<Issuer> {
  const { publicKey, privateKey } = generateKeyPairSync('ed25519')
  const keys = JSON.stringify({ keys: [{ ...publicKey.export({ format: 'jwk' }), kid: 'one' }] })
  const server = await serve(
    (_, response) => {
      response.setHeader('content-type', 'application/json').end(keys)
    },
    { host, tls },
  )
  return {
    url: `${server.url}/keys?of=users`,
    token(user) {
      const seconds = Math.floor(clock.nowMicros() / 1_000_000)
      const claims = { sub: user, aud: DEFAULT_AUDIENCE, exp: seconds + 3600 }
      const text = [{ alg: 'EdDSA', kid: 'one' }, claims].map(encode).join('.')
      return `${text}.${sign(null, Buffer.from(text), privateKey).toString('base64url')}`
    },
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  }
}

function encode(part: object): string {
  return Buffer.from(JSON.stringify(part)).toString('base64url')
}
