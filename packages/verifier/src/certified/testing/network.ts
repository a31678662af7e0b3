/** A network whose keys sign here, for tests. */
import { createPrivateKey, createPublicKey, sign } from 'node:crypto'
import type { Certificate, Network } from '../../certificates/certificate.ts'
import type { SignedState } from '../../certificates/collection.ts'
import { createPlatformCrypto } from '../../crypto/platform-crypto.ts'
import { toHex, utf8 } from '../../encoding/bytes.ts'
import { canonicalJson } from '../../encoding/canonical-json.ts'
import type { Genesis } from '../../genesis/genesis.ts'
import { sha256 } from '../../proof/testing/naive-tree.ts'
import { encodeStateStatement, type StatePoint } from '../../statements/statements.ts'

const PKCS8 = Buffer.from('302e020100300506032b657004220420', 'hex')

function keyOf(role: number, index: number) {
  const key = createPrivateKey({
    key: Buffer.concat([PKCS8, Buffer.alloc(32, 16 * role + index)]),
    format: 'der',
    type: 'pkcs8',
  })
  const { x = '' } = createPublicKey(key).export({ format: 'jwk' })
  return { key, publicKey: Buffer.from(x, 'base64url').toString('hex') }
}

export type TestNetwork = Network & {
  readonly sha256: typeof sha256
  readonly crypto: ReturnType<typeof createPlatformCrypto>
  /** By the member of this index; of another network where a hash is given. */
  signatureOf(index: number, point: StatePoint, genesisHash?: string): string
  stateOf(index: number, point: StatePoint): SignedState
  certificateOf(point: StatePoint, signers: readonly number[]): Certificate
}

/** Members `sv-1` …, the same for the same count. */
export function createTestNetwork(memberCount: number): TestNetwork {
  const keys = Array.from({ length: memberCount }, (_, index) => keyOf(1, index))
  const genesis = {
    version: 3,
    dso: `DSO::1220${'d'.repeat(64)}`,
    activityRetentionMicros: 100,
    nodes: keys.map(({ publicKey }, index) => ({
      name: `sv-${index + 1}`,
      scanKey: publicKey,
      operatorKey: keyOf(2, index).publicKey,
    })),
  } as unknown as Genesis
  const genesisHash = toHex(sha256(utf8(canonicalJson(genesis))))
  const signatureOf = (index: number, point: StatePoint, ofNetwork = genesisHash) => {
    const statement = encodeStateStatement({ ...point, genesisHash: ofNetwork })
    return sign(null, statement, (keys[index] as (typeof keys)[number]).key).toString('hex')
  }
  const nameOf = (index: number) => `sv-${index + 1}`
  return {
    genesis,
    genesisHash,
    sha256,
    crypto: createPlatformCrypto(),
    signatureOf,
    stateOf: (index, point) => ({
      ...point,
      member: nameOf(index),
      signature: signatureOf(index, point),
    }),
    certificateOf: (point, signers) => ({
      ...point,
      genesisHash,
      signatures: signers.map((index) => [nameOf(index), signatureOf(index, point)] as const),
    }),
  }
}
