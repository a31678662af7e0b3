import {
  constants,
  createHmac,
  generateKeyPairSync,
  publicDecrypt,
  sign as signWith,
} from 'node:crypto'
import type { Clock } from '@quorumscan/base'
import { isScanError } from '@quorumscan/errors'
import { DEFAULT_AUDIENCE } from '@quorumscan/model'
import { exportJWK, exportSPKI, generateKeyPair, type JWTPayload, SignJWT } from 'jose'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { createDevelopmentToken } from './development-token.ts'
import { bearerToken, createVerifier } from './verifier.ts'

const secret = new Uint8Array(32).fill(7)
const NOW_SECONDS = 1_700_000_000
const audience = DEFAULT_AUDIENCE
/** An issuer whose keys are at an address. */
const jwksIssuer = (algorithm: 'RS256' | 'ES256' | 'EdDSA') =>
  ({
    kind: 'jwks',
    url: 'https://issuer.example/jwks',
    algorithm,
    audience,
    lifetimeSecondsMax: null,
  }) as const

function clockAt(seconds: number): Clock {
  return {
    nowMicros: () => seconds * 1_000_000,
    monotonicMs: () => 0,
    delay: () => Promise.reject(new Error('no delays here')),
  }
}

const clock = clockAt(NOW_SECONDS)
const development = createVerifier(
  { kind: 'shared-secret', secret, audience, lifetimeSecondsMax: null },
  { clock },
)

const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')

function hs256(
  claims: unknown,
  header: object = { alg: 'HS256' },
  key: string | Uint8Array = secret,
) {
  const input = `${encode(header)}.${encode(claims)}`
  return `${input}.${createHmac('sha256', key).update(input).digest('base64url')}`
}

/** The same bytes in base64url, by another last character, whose last bits are no part of a byte. */
function otherBits(text: string): string {
  const other = [...'BCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_']
    .map((last) => text.slice(0, -1) + last)
    .find((one) => one !== text && decode(one).equals(decode(text)))
  if (other === undefined) throw new RangeError('all bits are used')
  return other
}
const decode = (text: string) => Buffer.from(text.split('.').at(-1) ?? '', 'base64url')

const good = { sub: 'alice', aud: audience, exp: NOW_SECONDS + 60 }

async function codeOf(work: Promise<unknown>): Promise<string> {
  const error = await work.then(
    (value) => value,
    (reason: unknown) => reason,
  )
  return isScanError(error) ? error.code : `no ScanError: ${String(error)}`
}

describe('a shared-secret verifier', () => {
  it('accepts the tokens that createDevelopmentToken makes, until they expire', async () => {
    const token = await createDevelopmentToken({
      secret,
      user: 'alice',
      ttlSeconds: 60,
      audience,
      clock,
    })
    const at = (seconds: number) =>
      createVerifier(
        { kind: 'shared-secret', secret, audience, lifetimeSecondsMax: null },
        { clock: clockAt(seconds) },
      ).verify(token)
    expect(await at(NOW_SECONDS + 59)).toBe('alice')
    expect(await codeOf(at(NOW_SECONDS + 60))).toBe('UNAUTHENTICATED')
  })

  it('accepts a token without exp and with several audiences', async () => {
    expect(await development.verify(hs256({ sub: 'alice', aud: ['x', audience] }))).toBe('alice')
  })

  const refused: [string, string][] = [
    ['alg none with an empty signature', `${encode({ alg: 'none' })}.${encode(good)}.`],
    ['alg none with a signature', hs256(good, { alg: 'none' })],
    ['HS512 under a header that says so', hs256(good, { alg: 'HS512' })],
    ['no alg', hs256(good, {})],
    ['another secret', hs256(good, { alg: 'HS256' }, new Uint8Array(32))],
    ['an empty secret', hs256(good, { alg: 'HS256' }, '')],
    ['an unknown critical header', hs256(good, { alg: 'HS256', crit: ['x'], x: 1 })],
    ['another audience', hs256({ ...good, aud: 'https://other.example' })],
    ['a longer audience', hs256({ ...good, aud: `${audience}/` })],
    ['no audience', hs256({ sub: 'alice', exp: good.exp })],
    ['an expired token', hs256({ ...good, exp: NOW_SECONDS })],
    ['an expired token of another secret', hs256({ ...good, exp: 0 }, undefined, 'other')],
    ['an exp that is a text', hs256({ ...good, exp: String(good.exp) })],
    ['an exp of null', hs256({ ...good, exp: null })],
    ['a token that is not valid yet', hs256({ ...good, nbf: NOW_SECONDS + 1 })],
    ['no sub', hs256({ aud: audience, exp: good.exp })],
    ['a sub with a space', hs256({ ...good, sub: 'alice smith' })],
    ['a sub with a slash', hs256({ ...good, sub: '../alice' })],
    ['a sub of 129 characters', hs256({ ...good, sub: 'a'.repeat(129) })],
    ['an empty sub', hs256({ ...good, sub: '' })],
    ['claims that are a list', hs256([good])],
    ['claims that are no JSON', 'eyJhbGciOiJIUzI1NiJ9.bm90anNvbg.AAAA'],
    ['two parts', 'a.b'],
    ['no token', ''],
  ]
  const reasons: Readonly<Record<string, string>> = {
    'claims that are no JSON': 'malformed',
    'an expired token': 'expired',
    'no alg': 'malformed',
    'claims that are a list': 'malformed',
    'two parts': 'malformed',
    'no token': 'malformed',
  }
  it.each(refused)('refuses %s, and says why', async (name, token) => {
    const error = await development.verify(token).catch((reason: unknown) => reason)
    const reason = reasons[name] ?? 'invalid'
    expect(error).toMatchObject({ code: 'UNAUTHENTICATED', details: { reason } })
  })

  it('refuses a payload that is not encoded (RFC 7797), though its signature is right', async () => {
    const verifier = createVerifier(
      { kind: 'shared-secret', secret, audience: 'x', lifetimeSecondsMax: null },
      { clock },
    )
    const raw = JSON.stringify({ sub: 'alice', aud: 'x' })
    const header = encode({ alg: 'HS256', b64: false, crit: ['b64'] })
    const signature = createHmac('sha256', secret).update(`${header}.${raw}`).digest('base64url')
    expect(await codeOf(verifier.verify(`${header}.${raw}.${signature}`))).toBe('UNAUTHENTICATED')
  })

  it('refuses an exp that JSON writes as an unlimited number', async () => {
    const claims = JSON.stringify(good).replace(String(good.exp), '1e400')
    const input = `${encode({ alg: 'HS256' })}.${Buffer.from(claims).toString('base64url')}`
    const signature = createHmac('sha256', secret).update(input).digest('base64url')
    expect(await codeOf(development.verify(`${input}.${signature}`))).toBe('UNAUTHENTICATED')
  })

  it.each([
    ['a header with unused bits', (header: string, claims: string) => [otherBits(header), claims]],
    ['claims with unused bits', (header: string, claims: string) => [header, otherBits(claims)]],
    [
      'a header with a byte order mark',
      (header: string, claims: string) => [
        Buffer.from(`\ufeff${Buffer.from(header, 'base64url')}`).toString('base64url'),
        claims,
      ],
    ],
    [
      'an algorithm twice',
      (_: string, claims: string) => [
        Buffer.from('{"alg":"none","alg":"HS256"}').toString('base64url'),
        claims,
      ],
    ],
    [
      'a user twice',
      (header: string) => [
        header,
        Buffer.from(`{"sub":"admin",${JSON.stringify(good).slice(1)}`).toString('base64url'),
      ],
    ],
  ])('refuses %s, though it is signed', async (_, change) => {
    const token = (parts: readonly string[]) => {
      const signature = createHmac('sha256', secret).update(parts.join('.')).digest('base64url')
      return [...parts, signature].join('.')
    }
    const parts = [encode({ alg: 'HS256', x: 'x' }), encode({ ...good, x: '' })] as const
    expect(await development.verify(token(parts))).toBe('alice')
    expect(await codeOf(development.verify(token(change(...parts))))).toBe('UNAUTHENTICATED')
  })

  it('refuses a signature with unused bits', async () => {
    const token = hs256(good)
    expect(await development.verify(token)).toBe('alice')
    expect(await codeOf(development.verify(otherBits(token)))).toBe('UNAUTHENTICATED')
  })

  it('cannot be created with a short secret', () => {
    expect(() =>
      createVerifier(
        { kind: 'shared-secret', secret: secret.subarray(1), audience, lifetimeSecondsMax: null },
        { clock },
      ),
    ).toThrow(RangeError)
  })

  it('refuses tokens with a lifetime that is unknown or longer than configured', async () => {
    const short = createVerifier(
      { kind: 'shared-secret', secret, audience, lifetimeSecondsMax: 300 },
      { clock },
    )
    const within = { sub: 'alice', aud: audience, iat: NOW_SECONDS, exp: NOW_SECONDS + 300 }
    expect(await short.verify(hs256(within))).toBe('alice')
    for (const claims of [
      { ...within, exp: NOW_SECONDS + 301 },
      { ...within, iat: undefined },
      { ...within, exp: undefined },
      { ...within, iat: NOW_SECONDS + 10_000, exp: NOW_SECONDS + 10_300 },
    ])
      expect(await codeOf(short.verify(hs256(claims))), JSON.stringify(claims)).toBe(
        'UNAUTHENTICATED',
      )
  })
})

describe('a JWKS verifier', () => {
  const respond =
    (body: unknown, status = 200) =>
    () =>
      Promise.resolve(new Response(JSON.stringify(body), { status }))

  async function fixture(algorithm: 'RS256' | 'ES256' | 'EdDSA') {
    const keys = await generateKeyPair(algorithm, { extractable: true })
    const jwk = { ...(await exportJWK(keys.publicKey)), kid: 'k1' }
    const verifier = createVerifier(jwksIssuer(algorithm), {
      clock,
      fetch: respond({ keys: [jwk] }),
    })
    const sign = (claims: JWTPayload, alg: string = algorithm) =>
      new SignJWT(claims).setProtectedHeader({ alg, kid: 'k1' }).sign(keys.privateKey)
    return { verifier, sign, publicKey: keys.publicKey }
  }

  it.each(['RS256', 'ES256', 'EdDSA'] as const)('accepts %s tokens', async (algorithm) => {
    const { verifier, sign } = await fixture(algorithm)
    expect(await verifier.verify(await sign(good))).toBe('alice')
  })

  it('never uses the public key as an HS256 secret', async () => {
    const { verifier, publicKey } = await fixture('RS256')
    const pem = await exportSPKI(publicKey)
    for (const key of [pem, pem.trim(), JSON.stringify(await exportJWK(publicKey))])
      expect(await codeOf(verifier.verify(hs256(good, { alg: 'HS256', kid: 'k1' }, key)))).toBe(
        'UNAUTHENTICATED',
      )
  })

  it.each([
    ['1', 'AQ'],
    ['4', 'BA'],
  ])('refuses an RSA key with the exponent %s', async (_, e) => {
    const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
    const input = `${encode({ alg: 'RS256', kid: 'k1' })}.${encode(good)}`
    const right = signWith('sha256', Buffer.from(input), privateKey)
    // What the signature is to the power of 1: the padded hash.
    const padded = publicDecrypt({ key: publicKey, padding: constants.RSA_NO_PADDING }, right)
    const jwk = { ...publicKey.export({ format: 'jwk' }), kid: 'k1', e }
    const verifier = createVerifier(jwksIssuer('RS256'), { clock, fetch: respond({ keys: [jwk] }) })
    const error = await verifier
      .verify(`${input}.${padded.toString('base64url')}`)
      .catch((reason: unknown) => reason)
    expect(error).toMatchObject({
      code: 'UNAUTHENTICATED',
      cause: { message: expect.stringContaining('exponent') },
    })
  })

  it('refuses another algorithm of the same key type', async () => {
    const keys = await generateKeyPair('PS256', { extractable: true })
    const jwk = { ...(await exportJWK(keys.publicKey)), kid: 'k1' }
    const verifier = createVerifier(jwksIssuer('RS256'), { clock, fetch: respond({ keys: [jwk] }) })
    const token = await new SignJWT(good)
      .setProtectedHeader({ alg: 'PS256', kid: 'k1' })
      .sign(keys.privateKey)
    expect(await codeOf(verifier.verify(token))).toBe('UNAUTHENTICATED')
  })

  it('demands exp', async () => {
    const { verifier, sign } = await fixture('ES256')
    expect(await codeOf(verifier.verify(await sign({ sub: 'alice', aud: audience })))).toBe(
      'UNAUTHENTICATED',
    )
  })

  it('throws DEPENDENCY_UNAVAILABLE if the keys cannot be fetched', async () => {
    const { sign } = await fixture('ES256')
    for (const fetch of [
      respond({}, 500),
      respond({ keys: 'none' }),
      () => Promise.reject(new TypeError('connection refused')),
    ]) {
      const verifier = createVerifier(jwksIssuer('ES256'), { clock, fetch })
      expect(await codeOf(verifier.verify(await sign(good)))).toBe('DEPENDENCY_UNAVAILABLE')
    }
  })
})

describe('keys of an issuer', () => {
  afterEach(() => void vi.useRealTimers())

  /** A verifier with a moving clock, and an issuer with the given answers. */
  async function issuer() {
    vi.useFakeTimers({ toFake: ['Date'], now: NOW_SECONDS * 1000 })
    const keys = await generateKeyPair('ES256', { extractable: true })
    const published = { keys: [{ ...(await exportJWK(keys.publicKey)), kid: 'k1' }] }
    let elapsedMs = 0
    let answer = (): Response => Response.json(published)
    const failures: unknown[] = []
    const verifier = createVerifier(jwksIssuer('ES256'), {
      clock: { ...clock, monotonicMs: () => elapsedMs },
      fetch: async () => answer(),
      onKeysUnavailable: (reason) => failures.push(reason),
    })
    const token = await new SignJWT(good)
      .setProtectedHeader({ alg: 'ES256', kid: 'k1' })
      .sign(keys.privateKey)
    return {
      failures,
      verify: () => codeOf(verifier.verify(token)),
      answers: (next: typeof answer) => {
        answer = next
      },
      /** Advances the clock, and waits until the fetch in the background has ended. */
      pass: async (ms: number) => {
        elapsedMs += ms
        vi.setSystemTime(NOW_SECONDS * 1000 + elapsedMs)
        await codeOf(verifier.verify(token))
        await new Promise(setImmediate)
      },
    }
  }
  const minute = 60_000
  const alice = 'no ScanError: alice'
  const gone = () => new Response(null, { status: 500 })

  it('are used for a day while their issuer does not answer', async () => {
    const { verify, answers, pass, failures } = await issuer()
    expect(await verify()).toBe(alice)
    answers(gone)
    await pass(11 * minute)
    expect(failures).toHaveLength(1)
    expect(await verify()).toBe(alice)
    await pass(23 * 60 * minute)
    expect(await verify()).toBe(alice)
    await pass(60 * minute)
    expect(await verify()).toBe('DEPENDENCY_UNAVAILABLE')
  })

  it('expire within minutes after the issuer withdrew them', async () => {
    const { verify, answers, pass } = await issuer()
    expect(await verify()).toBe(alice)
    answers(() => Response.json({ keys: [] }))
    await pass(9 * minute)
    expect(await verify()).toBe(alice)
    await pass(2 * minute)
    expect(await verify()).toBe('UNAUTHENTICATED')
  })

  it('are fetched at the start, and a failure is reported before any token arrives', async () => {
    vi.useFakeTimers({ toFake: ['Date'], now: NOW_SECONDS * 1000 })
    const failure = await new Promise((resolve) => {
      createVerifier(jwksIssuer('ES256'), {
        clock,
        fetch: async () => gone(),
        onKeysUnavailable: resolve,
      })
    })
    expect(String(failure)).toContain('200 OK')
  })

  it('are refused while they arrive if they are too large', async () => {
    const { verify, answers, pass } = await issuer()
    expect(await verify()).toBe(alice)
    let sentCount = 0
    const endless = () =>
      new Response(
        new ReadableStream<Uint8Array>({
          pull: (controller) => {
            sentCount++
            controller.enqueue(new Uint8Array(64 * 1024).fill(0x20))
          },
        }),
      )
    answers(endless)
    await pass(24 * 60 * minute)
    expect(await verify()).toBe('DEPENDENCY_UNAVAILABLE')
    expect(sentCount).toBeLessThan(50)
  })
})

describe('bearerToken', () => {
  it('reads the header, whatever the case of the scheme', () => {
    expect(bearerToken('Bearer a.b.c')).toBe('a.b.c')
    expect(bearerToken('bearer  a.b.c')).toBe('a.b.c')
  })

  it.each([undefined, '', 'Bearer', 'Bearer ', 'Basic a.b.c', 'Bearer Bearer a.b.c', 'Bearer a b'])(
    'refuses %j, and says why',
    (header) => {
      const details = { reason: header ? 'malformed' : 'missing' }
      expect(() => bearerToken(header)).toThrow(
        expect.objectContaining({ code: 'UNAUTHENTICATED', details }),
      )
    },
  )
})
