/** Tokens that must and must not be accepted, made from RFC 7515, 7518, 7519 and 8725: no registry has such vectors. */
import {
  constants,
  createHmac,
  createPublicKey,
  generateKeyPairSync,
  type JsonWebKey,
  type KeyObject,
  publicDecrypt,
  sign as signWith,
} from 'node:crypto'
import { bearerToken, createVerifier } from '@quorumscan/auth'
import { createSystemClock } from '@quorumscan/base'
import { isScanError } from '@quorumscan/errors'
import type { Case } from './tally.ts'

export type Algorithm = 'HS256' | 'RS256' | 'ES256' | 'EdDSA'

const AUDIENCE = 'https://suite.example'
const SECRET = Buffer.alloc(32, 7)
const USER = 'alice'
const clock = createSystemClock()
const CLAIMS = { sub: USER, aud: AUDIENCE, exp: Math.floor(clock.nowMicros() / 1e6) + 3600 }
/** Orders of the groups of P-256 and of Ed25519. */
const P256_ORDER = 0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551n
const ED25519_ORDER = 2n ** 252n + 27742317777372353535851937790883648493n

const base64url = (value: string | Uint8Array) => Buffer.from(value).toString('base64url')
const json = (value: unknown) => base64url(JSON.stringify(value))

type Keys = {
  readonly sign: (input: string) => Buffer
  readonly jwk: JsonWebKey
  readonly privateKey: KeyObject | null
}

function pairOf(algorithm: Exclude<Algorithm, 'HS256'>) {
  if (algorithm === 'RS256') return generateKeyPairSync('rsa', { modulusLength: 2048 })
  if (algorithm === 'ES256') return generateKeyPairSync('ec', { namedCurve: 'P-256' })
  return generateKeyPairSync('ed25519')
}

function keysOf(algorithm: Algorithm): Keys {
  if (algorithm === 'HS256')
    return {
      sign: (input) => createHmac('sha256', SECRET).update(input).digest(),
      jwk: {},
      privateKey: null,
    }
  const { privateKey, publicKey } = pairOf(algorithm)
  const hash = algorithm === 'EdDSA' ? null : 'sha256'
  return {
    sign: (input) =>
      signWith(hash, Buffer.from(input), { key: privateKey, dsaEncoding: 'ieee-p1363' }),
    jwk: publicKey.export({ format: 'jwk' }),
    privateKey,
  }
}

/** Accepts by the rules of a validator: its header, then its verifier. */
function createJudge(algorithm: Algorithm, keys: readonly object[]) {
  const claims = { audience: AUDIENCE, lifetimeSecondsMax: null }
  const verifier =
    algorithm === 'HS256'
      ? createVerifier({ kind: 'shared-secret', secret: SECRET, ...claims }, { clock })
      : createVerifier(
          { kind: 'jwks', url: 'https://issuer.example/jwks', algorithm, ...claims },
          { clock, fetch: async () => Response.json({ keys }) },
        )
  /** `accepted`, `refused`, `a fault of the issuer`, or what must not happen. */
  return async (token: string): Promise<string> => {
    try {
      const user = await verifier.verify(bearerToken(`Bearer ${token}`))
      return user === USER ? 'accepted' : `accepted for ${user}`
    } catch (error) {
      const code = isScanError(error) ? error.code : ''
      if (code === 'DEPENDENCY_UNAVAILABLE') return 'a fault of the issuer'
      return code === 'UNAUTHENTICATED' ? 'refused' : String(error)
    }
  }
}

type Verdict = 'accepted' | 'refused' | 'a fault of the issuer'
type Token = readonly [name: string, token: string, expected: Verdict]

/** The same text with other bits after the last byte of its base64url; undefined if it has none. */
function withUnusedBits(text: string): string | undefined {
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
  if (text.length % 4 === 0) return undefined
  const last = alphabet.indexOf(text.at(-1) ?? '')
  return text.slice(0, -1) + alphabet[last + 1]
}

export async function tokenCases(algorithm: Algorithm): Promise<readonly Case<string>[]> {
  const keys = keysOf(algorithm)
  const published = { ...keys.jwk, kid: 'k1' }
  const judge = createJudge(algorithm, [published])
  const cases: Case<string>[] = []
  for (const [name, token, expected] of tokensOf(algorithm, keys))
    cases.push({ name, expected, actual: await judge(token) })
  for (const [name, jwk, token, expected] of keysToRefuse(algorithm, keys))
    cases.push({ name, expected, actual: await createJudge(algorithm, [jwk])(token) })
  return cases
}

function* tokensOf(algorithm: Algorithm, { sign, jwk }: Keys): Generator<Token> {
  const header = { alg: algorithm, kid: 'k1' }
  const signed = (input: string) => `${input}.${base64url(sign(input))}`
  const withParts = (one: string, two: string) => signed(`${one}.${two}`)
  const withHeader = (more: object) => withParts(json({ ...header, ...more }), json(CLAIMS))
  const withClaims = (claims: unknown) => withParts(json(header), json(claims))
  const good = withHeader({})
  const [first = '', second = '', third = ''] = good.split('.')

  yield ['as usual', good, 'accepted']
  yield ['with typ', withHeader({ typ: 'JWT' }), 'accepted']
  yield ['with an unknown member of the header', withHeader({ other: 1 }), 'accepted']
  yield [
    'with white space in the JSON',
    withParts(
      base64url(JSON.stringify(header, null, 2)),
      base64url(JSON.stringify(CLAIMS, null, 2)),
    ),
    'accepted',
  ]
  yield ['with claims that others use', withClaims({ ...CLAIMS, iss: 'x', jti: '1' }), 'accepted']

  // RFC 7515 §2, §5.2: base64url without padding, line breaks, white space or other characters.
  for (const [what, change] of Object.entries({
    padding: (part: string) => `${part}=`,
    'two signs of padding': (part: string) => `${part}==`,
    'a line break': (part: string) => `${part.slice(0, 4)}\n${part.slice(4)}`,
    'a space': (part: string) => `${part.slice(0, 4)} ${part.slice(4)}`,
    'a sign of base64': (part: string) => `${part}+`,
    'a slash': (part: string) => `${part}/`,
    'a zero byte': (part: string) => `${part}\0`,
    'a letter that is not ASCII': (part: string) => `${part}é`,
    'one character too many': (part: string) =>
      part.length % 4 === 0 ? `${part}A` : part + 'A'.repeat(5 - (part.length % 4)),
  })) {
    yield [`with ${what} in the header`, withParts(change(first), second), 'refused']
    yield [`with ${what} in the claims`, withParts(first, change(second)), 'refused']
    yield [`with ${what} in the signature`, `${first}.${second}.${change(third)}`, 'refused']
  }
  // RFC 4648 §3.5: decoders may refuse them. Decided: refused, so that a token has one spelling.
  for (let fill = ''; fill.length < 3; fill += 'x') {
    const one = withUnusedBits(json({ ...header, fill }))
    const two = withUnusedBits(json({ ...CLAIMS, fill }))
    if (one !== undefined) yield [`unused bits, header ${fill}`, withParts(one, second), 'refused']
    if (two !== undefined) yield [`unused bits, claims ${fill}`, withParts(first, two), 'refused']
  }
  const unused = withUnusedBits(third)
  if (unused !== undefined)
    yield ['unused bits, signature', `${first}.${second}.${unused}`, 'refused']

  // RFC 7515 §7.1: three parts.
  yield ['without a signature', `${first}.${second}.`, 'refused']
  yield ['of two parts', `${first}.${second}`, 'refused']
  yield ['of four parts', `${good}.`, 'refused']
  yield ['of five parts, as a JWE', `${first}..${second}.${third}.AAAA`, 'refused']
  yield ['without claims', withParts(first, ''), 'refused']
  yield ['without a header', withParts('', second), 'refused']
  yield [
    'in JSON',
    JSON.stringify({ protected: first, payload: second, signature: third }),
    'refused',
  ]
  yield ['of another header', `${json({ ...header, x: 1 })}.${second}.${third}`, 'refused']
  yield ['of other claims', `${first}.${json({ ...CLAIMS, sub: 'admin' })}.${third}`, 'refused']

  // RFC 8725 §3.1, 3.2: the algorithm is that of the configuration.
  const algorithms = ['none', 'None', 'NONE', 'nOnE', '', algorithm.toLowerCase(), ` ${algorithm}`]
  for (const alg of [
    ...algorithms,
    'HS384',
    'HS512',
    'RS512',
    'PS256',
    'ES384',
    'ES256K',
    'Ed448',
    null,
    1,
    [algorithm],
  ])
    yield [`alg ${JSON.stringify(alg)}`, withHeader({ alg }), 'refused']
  for (const alg of ['none', 'NONE'])
    yield [`alg ${alg} without a signature`, `${json({ ...header, alg })}.${second}.`, 'refused']
  yield ['without alg', withHeader({ alg: undefined }), 'refused']
  if (algorithm !== 'HS256')
    for (const key of [JSON.stringify(jwk), json(jwk), String(jwk.x ?? jwk.n), ''])
      for (const secret of [key, Buffer.from(key, 'base64url')]) {
        const input = `${json({ alg: 'HS256', kid: 'k1' })}.${second}`
        const mac = createHmac('sha256', secret).update(input).digest('base64url')
        yield ['with the public key as a secret', `${input}.${mac}`, 'refused']
      }

  // RFC 7515 §4.1.11, RFC 7797.
  for (const crit of [[], ['x'], ['alg'], ['b64'], 'x', {}, [1], null])
    yield [`crit ${JSON.stringify(crit)}`, withHeader({ crit, x: 1 }), 'refused']
  const raw = `${json({ ...header, b64: false, crit: ['b64'] })}.${JSON.stringify(CLAIMS)}`
  yield ['with claims that are not encoded', signed(raw), 'refused']

  // RFC 8725 §3.5, 3.10: a key or an address in the header is no key of the issuer.
  const other = keysOf(algorithm)
  const foreign = (more: object) => {
    const input = `${json({ ...header, ...more })}.${second}`
    return `${input}.${base64url(algorithm === 'HS256' ? createHmac('sha256', 'other').update(input).digest() : other.sign(input))}`
  }
  yield ['of another key', foreign({}), 'refused']
  yield ['with its own key', foreign({ jwk: other.jwk }), 'refused']
  yield ['with the address of its key', foreign({ jku: 'https://other.example/jwks' }), 'refused']
  yield [
    'with a chain of certificates',
    foreign({ x5c: ['AAAA'], x5u: 'https://o.example' }),
    'refused',
  ]

  // RFC 7515 §4, RFC 7519 §7.2: JSON objects in UTF-8.
  const notUtf8 = Buffer.concat([Buffer.from('{"alg":"'), Buffer.of(0xff), Buffer.from('"}')])
  for (const [what, bytes] of Object.entries({
    'not UTF-8': notUtf8,
    'that begins with a byte order mark': Buffer.from(`\ufeff${JSON.stringify(header)}`),
    'in UTF-16': Buffer.from(JSON.stringify(header), 'utf16le'),
    'that is a list': Buffer.from(JSON.stringify([header])),
    'that is null': Buffer.from('null'),
    'that is a number': Buffer.from('1'),
    'that is cut off': Buffer.from('{"alg":'),
    'that has more after it': Buffer.from(`${JSON.stringify(header)}{}`),
  }))
    yield [`with a header ${what}`, withParts(base64url(bytes), second), 'refused']
  for (const [what, bytes] of Object.entries({
    'that begin with a byte order mark': Buffer.from(`\ufeff${JSON.stringify(CLAIMS)}`),
    'not in UTF-8': Buffer.concat([
      Buffer.from(JSON.stringify(CLAIMS)).subarray(0, -1),
      Buffer.from(',"x":"'),
      Buffer.of(0xff),
      Buffer.from('"}'),
    ]),
    'in UTF-16': Buffer.from(JSON.stringify(CLAIMS), 'utf16le'),
    'that are a list': Buffer.from(JSON.stringify([CLAIMS])),
    'that are null': Buffer.from('null'),
    'that are a text': Buffer.from('"alice"'),
    'that have more after them': Buffer.from(`${JSON.stringify(CLAIMS)} x`),
  }))
    yield [`with claims ${what}`, withParts(first, base64url(bytes)), 'refused']

  // RFC 7519 §4.1, RFC 8725 §3.8, 3.9.
  for (const change of [
    { exp: 1 },
    { exp: String(CLAIMS.exp) },
    { exp: null },
    { exp: -1 },
    { nbf: CLAIMS.exp },
    { nbf: 'x' },
    { aud: undefined },
    { aud: '' },
    { aud: [] },
    { aud: [[AUDIENCE]] },
    { aud: `${AUDIENCE}/` },
    { aud: AUDIENCE.toUpperCase() },
    { aud: { 0: AUDIENCE } },
    { sub: undefined },
    { sub: '' },
    { sub: null },
    { sub: 1 },
    { sub: [USER] },
    { sub: `${USER}\0` },
    { sub: `${USER} ` },
  ])
    yield [`claims ${JSON.stringify(change)}`, withClaims({ ...CLAIMS, ...change }), 'refused']

  yield* signaturesOf(algorithm, sign, `${first}.${second}`)
}

/** RFC 7518 §3: other forms of a right signature. */
function* signaturesOf(algorithm: Algorithm, sign: Keys['sign'], input: string): Generator<Token> {
  const right = sign(input)
  const token = (bytes: Uint8Array) => `${input}.${base64url(bytes)}`
  yield ['with a signature of zeros', token(Buffer.alloc(right.length)), 'refused']
  yield ['with a shorter signature', token(right.subarray(0, -1)), 'refused']
  yield ['with a longer signature', token(Buffer.concat([right, Buffer.of(0)])), 'refused']
  yield ['with a zero before the signature', token(Buffer.concat([Buffer.of(0), right])), 'refused']
  yield [
    'with the first half of a signature',
    token(right.subarray(0, right.length / 2)),
    'refused',
  ]
  const bigint = (bytes: Uint8Array) => BigInt(`0x${Buffer.from(bytes).toString('hex')}`)
  const bytes32 = (value: bigint) => Buffer.from(value.toString(16).padStart(64, '0'), 'hex')
  const [r, s] = [right.subarray(0, 32), right.subarray(32, 64)]
  if (algorithm === 'ES256') {
    yield [
      'with the other s, which ECDSA allows',
      token(Buffer.concat([r, bytes32(P256_ORDER - bigint(s))])),
      'accepted',
    ]
    for (const [one, two] of [
      [0n, 0n],
      [0n, 1n],
      [1n, 0n],
      [P256_ORDER, P256_ORDER],
      [0n, P256_ORDER],
      [P256_ORDER - 1n, 0n],
    ] as const)
      yield [`r ${one}, s ${two}`, token(Buffer.concat([bytes32(one), bytes32(two)])), 'refused']
    const derOf = (part: Buffer) => {
      const positive = (part[0] as number) > 0x7f ? Buffer.concat([Buffer.of(0), part]) : part
      return Buffer.concat([Buffer.of(2, positive.length), positive])
    }
    const body = Buffer.concat([derOf(r), derOf(s)])
    yield ['in DER', token(Buffer.concat([Buffer.of(0x30, body.length), body])), 'refused']
  }
  if (algorithm === 'EdDSA') {
    const scalar = bigint(Buffer.from(s).reverse()) + ED25519_ORDER
    yield [
      'with a scalar that is not reduced',
      token(Buffer.concat([r, bytes32(scalar).reverse()])),
      'refused',
    ]
  }
}

/** RFC 7518 §3.3, RFC 8725 §3.5: keys that an issuer must not use, each with a token that it signed. */
function* keysToRefuse(
  algorithm: Algorithm,
  keys: Keys,
): Generator<readonly [name: string, jwk: JsonWebKey, token: string, expected: Verdict]> {
  if (algorithm === 'HS256') return
  const input = `${json({ alg: algorithm, kid: 'k1' })}.${json(CLAIMS)}`
  const token = `${input}.${base64url(keys.sign(input))}`
  const jwk: JsonWebKey = { ...keys.jwk, kid: 'k1' }
  yield [
    'a key for this algorithm',
    { ...jwk, alg: algorithm, use: 'sig', key_ops: ['verify'] },
    token,
    'accepted',
  ]
  yield ['a key for encryption', { ...jwk, use: 'enc' }, token, 'refused']
  yield ['a key that may not verify', { ...jwk, key_ops: ['encrypt'] }, token, 'refused']
  yield ['a key for another algorithm', { ...jwk, alg: 'PS256' }, token, 'refused']
  yield ['a key of another type', { ...jwk, kty: 'oct', k: 'AAAA' }, token, 'refused']
  yield ['a key with another name', { ...jwk, kid: 'k2' }, token, 'refused']
  if (algorithm === 'RS256') {
    for (const modulusLength of [1024, 2040]) {
      const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength })
      const signature = signWith('sha256', Buffer.from(input), privateKey)
      const small = { ...publicKey.export({ format: 'jwk' }), kid: 'k1' }
      yield [
        `an RSA key of ${modulusLength} bits`,
        small,
        `${input}.${base64url(signature)}`,
        'refused',
      ]
    }
    // With the exponent 1 a signature is the padded hash itself.
    const privateKey = keys.privateKey as KeyObject
    const key = createPublicKey(privateKey)
    const padded = publicDecrypt({ key, padding: constants.RSA_NO_PADDING }, keys.sign(input))
    yield [
      'an RSA key with the exponent 1',
      { ...jwk, e: 'AQ' },
      `${input}.${base64url(padded)}`,
      'refused',
    ]
    const pss = { key: privateKey, padding: constants.RSA_PKCS1_PSS_PADDING }
    yield [
      'a signature with another padding',
      jwk,
      `${input}.${base64url(signWith('sha256', Buffer.from(input), pss))}`,
      'refused',
    ]
    for (const hash of ['sha1', 'sha384', 'sha512']) {
      const signature = signWith(hash, Buffer.from(input), privateKey)
      yield [`a signature over ${hash}`, jwk, `${input}.${base64url(signature)}`, 'refused']
    }
  }
  if (algorithm === 'ES256') {
    const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-384' })
    const how = { key: privateKey, dsaEncoding: 'ieee-p1363' } as const
    const signature = signWith('sha256', Buffer.from(input), how)
    const other = { ...publicKey.export({ format: 'jwk' }), kid: 'k1' }
    yield ['a key of another curve', other, `${input}.${base64url(signature)}`, 'refused']
    const off = { ...jwk, x: base64url(Buffer.alloc(32, 1)) }
    yield ['a key that is no point of the curve', off, token, 'a fault of the issuer']
  }
}
