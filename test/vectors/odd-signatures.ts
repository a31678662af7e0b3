/** Signatures that some implementations of Ed25519 accept, but strict RFC 8032 without the cofactor does not. */
import { createHash } from 'node:crypto'
import { ED25519_TORSION_SUBGROUP, ed25519 } from '@noble/curves/ed25519'
import type { KeyPair } from '@quorumscan/base'

const { ExtendedPoint: Point, CURVE } = ed25519
type CurvePoint = InstanceType<typeof Point>
const L = CURVE.n
const FIELD = CURVE.Fp.ORDER

const littleEndian = (value: bigint) =>
  Uint8Array.from(Buffer.from(value.toString(16).padStart(64, '0'), 'hex').reverse())
const numberOf = (bytes: Uint8Array) => BigInt(`0x${Buffer.from(bytes).reverse().toString('hex')}`)
const mod = (value: bigint) => ((value % L) + L) % L

/** Yields signatures of 64 bytes with their names. */
export function* oddSignatures(
  { seed, publicKey }: KeyPair,
  message: Uint8Array,
): Generator<readonly [name: string, signature: Uint8Array]> {
  const { scalar } = ed25519.utils.getExtendedPublicKey(seed)
  const challenge = (r: Uint8Array) =>
    mod(
      numberOf(
        createHash('sha512')
          .update(r)
          .update(Buffer.from(publicKey, 'hex'))
          .update(message)
          .digest(),
      ),
    )
  /** A signature with this encoded R and this nonce. */
  const sign = (r: Uint8Array, nonce: bigint, sign = 1n) =>
    Buffer.concat([r, littleEndian(mod(nonce + sign * challenge(r) * scalar))])
  const nonce = 7n
  const commitment = Point.BASE.multiply(nonce)
  const honest = sign(commitment.toRawBytes(), nonce)
  if (!ed25519.verify(honest, message, publicKey, { zip215: false })) throw new Error('not signed')

  const s = numberOf(honest.subarray(32))
  yield [
    'whose scalar is not reduced',
    Buffer.concat([honest.subarray(0, 32), littleEndian(s + L)]),
  ]
  const torsion: CurvePoint = Point.fromHex(ED25519_TORSION_SUBGROUP[1] as string)
  if (torsion.equals(Point.ZERO)) throw new Error('the torsion point is zero')
  yield ['that fits with the cofactor alone', sign(commitment.add(torsion).toRawBytes(), nonce)]
  yield ['with another encoding of a point, y not reduced', sign(littleEndian(FIELD + 1n), 0n)]
  yield ['with another encoding of a point, sign of zero', sign(littleEndian(1n + 2n ** 255n), 0n)]
  yield ['with the encoding of no point', sign(littleEndian(noPoint()), 0n)]
  // S·B and R + k·A with one coordinate in common: S·B = -(R + k·A), and S·B = -(R + k·A) + (0, -1).
  const opposite = commitment.negate()
  yield ['that fits in y alone', sign(opposite.toRawBytes(), nonce, -1n)]
  const half: CurvePoint = Point.fromAffine({ x: 0n, y: FIELD - 1n })
  yield ['that fits in x alone', sign(opposite.add(half).toRawBytes(), nonce, -1n)]
}

function noPoint(): bigint {
  for (let y = 2n; ; y++)
    try {
      Point.fromHex(littleEndian(y))
    } catch {
      return y
    }
}
