/**
 * Certificates: the state of the ledger at an offset, signed by members of the genesis. Among f + 1 signers is an honest
 * member, so a state tree with that root proves its content to every reader.
 * docs/certified-reads.md has the format.
 */

import { type CryptoPort, isSignature } from '../crypto/crypto.ts'
import { fromHex } from '../encoding/bytes.ts'
import type { Genesis } from '../genesis/genesis.ts'
import { memberSetOf } from '../genesis/member-set.ts'
import type { TrustRule } from '../genesis/trust.ts'
import { InvalidProof } from '../proof/invalid-proof.ts'
import { isNatural } from '../proof/range-proof.ts'
import { encodeStateStatement, type StatePoint } from '../statements/statements.ts'

/** A genesis and its hash, by which statements name the network. */
export type Network = {
  readonly genesis: Genesis
  readonly genesisHash: string
  /** Whose signatures on a certificate count for a reader (D-75). Default: those of all members. */
  readonly trust?: TrustRule | null | undefined
}

/** A member of the genesis with its signature, 128 hex digits. */
export type MemberSignature = readonly [name: string, signature: string]

/** A state with signatures of members. The statement of one member has the same form, with one signature. */
export type Certificate = StatePoint & {
  readonly genesisHash: string
  /** In the order of the genesis, each member once. */
  readonly signatures: readonly MemberSignature[]
}

/** A hundred members with the longest names and their signatures are below. */
const CERTIFICATE_LENGTH_MAX = 20_000
const HASH = /^[0-9a-f]{64}$/

/** The one text of a certificate: RFC 8785 JSON. */
export function encodeCertificate(certificate: Certificate): string {
  // Names and hex need no escapes, and the members are sorted.
  return JSON.stringify({
    genesis_hash: certificate.genesisHash,
    history_hash: certificate.historyHash,
    offset: certificate.offset,
    record_time: certificate.recordTime,
    signatures: certificate.signatures,
    state_root: certificate.stateRoot,
  })
}

/**
 * Parses a certificate. It does not verify the signatures.
 *
 * @throws {InvalidProof} MALFORMED unless the text is exactly what `encodeCertificate` gives.
 */
export function parseCertificate(text: string): Certificate {
  const { genesis_hash, history_hash, offset, record_time, signatures, state_root } = parse(text)
  const isWellFormed =
    [genesis_hash, history_hash, state_root].every(isHash) &&
    [offset, record_time].every(isNatural) &&
    Array.isArray(signatures) &&
    signatures.every(isMemberSignature)
  if (isWellFormed) {
    const certificate = {
      genesisHash: genesis_hash as string,
      offset: offset as number,
      recordTime: record_time as number,
      historyHash: history_hash as string,
      stateRoot: state_root as string,
      signatures: signatures as readonly MemberSignature[],
    }
    // A text with other or duplicate members differs from the encoded one.
    if (encodeCertificate(certificate) === text) return certificate
  }
  throw new InvalidProof('MALFORMED', 'the certificate is malformed')
}

/**
 * Checks that all signatures are those of members, in the order of the genesis.
 *
 * A signature that is not makes the certificate invalid. Its maker checked each one, and a document to which any process
 * could add without notice would have many forms.
 *
 * @throws {InvalidProof} OTHER_GENESIS, BAD_SIGNATURE.
 */
export async function verifySignatures(
  { ...certificate }: Certificate,
  { genesis, genesisHash, crypto }: Network & { readonly crypto: SignatureVerifier },
): Promise<void> {
  const { signatures } = certificate
  if (certificate.genesisHash !== genesisHash)
    throw new InvalidProof('OTHER_GENESIS', 'the certificate is from another network')
  const message = encodeStateStatement(certificate)
  let index = 0
  const checks: Promise<boolean>[] = []
  for (const { name, scanKey } of memberSetOf(genesis).members) {
    const [signer, signature] = signatures[index] ?? []
    if (signer !== name || signature === undefined) continue
    index += 1
    const publicKey = fromHex(scanKey)
    checks.push(crypto.verifyEd25519({ publicKey, message, signature: fromHex(signature) }))
  }
  if (index < signatures.length)
    throw new InvalidProof(
      'BAD_SIGNATURE',
      `${signatures[index]?.[0]} is not a member, signed twice or out of order`,
    )
  const bad = (await Promise.all(checks)).indexOf(false)
  if (bad >= 0)
    throw new InvalidProof(
      'BAD_SIGNATURE',
      `the signature of ${signatures[bad]?.[0]} does not verify`,
    )
}

/** The part of `CryptoPort` that certificates need. */
export type SignatureVerifier = Pick<CryptoPort, 'verifyEd25519'>

/** Whether both have the same content, at the same offset. */
export function isSamePoint(a: StatePoint, b: StatePoint): boolean {
  return isSameHistory(a, b) && a.stateRoot === b.stateRoot
}

export function isSameHistory(a: StatePoint, b: StatePoint): boolean {
  return a.offset === b.offset && a.recordTime === b.recordTime && a.historyHash === b.historyHash
}

/**
 * One certificate with the signatures of all.
 *
 * @param certificates - At least one, and of one network; `verifySignatures` was done for each.
 * @throws {RangeError} If they differ.
 */
export function combineCertificates(
  certificates: readonly [Certificate, ...Certificate[]],
  genesis: Genesis,
): Certificate {
  const [first] = certificates
  if (!certificates.every((one) => isSamePoint(one, first)))
    throw new RangeError('certificates with different content cannot be combined')
  const signatureByMember = new Map(certificates.flatMap(({ signatures }) => signatures))
  const signatures = memberSetOf(genesis).members.flatMap(({ name }) => {
    const signature = signatureByMember.get(name)
    return signature === undefined ? [] : [[name, signature] as const]
  })
  return { ...first, signatures }
}

/** Whether it is a hash in lower-case hex. */
export function isHash(value: unknown): boolean {
  return typeof value === 'string' && HASH.test(value)
}

function parse(text: string): Readonly<Record<string, unknown>> {
  try {
    // A value that is not an object has none of the members.
    if (text.length <= CERTIFICATE_LENGTH_MAX) return JSON.parse(text) ?? {}
  } catch {
    // A text that is not JSON has no members.
  }
  return {}
}

const isMemberSignature = (pair: unknown) =>
  Array.isArray(pair) && pair.length === 2 && typeof pair[0] === 'string' && isSignature(pair[1])
