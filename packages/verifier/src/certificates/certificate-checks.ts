/** Checks each certificate once, whatever the number of answers that come with it. */
import { fromHex } from '../encoding/bytes.ts'
import { isTrusted } from '../genesis/trust.ts'
import type { HistoryPoint } from '../statements/statements.ts'
import {
  type Network,
  parseCertificate,
  type SignatureVerifier,
  verifySignatures,
} from './certificate.ts'

export type CheckedCertificate = HistoryPoint & {
  /** The root of the state tree. */
  readonly root: Uint8Array
  /** Those that count, in the order of the genesis. They may be too few: the reader counts them. */
  readonly signers: readonly string[]
  /** How many other members signed: 0 without a trust rule. */
  readonly otherCount: number
}

export type CertificateChecks = ReturnType<typeof createCertificateChecks>

/** Nodes prove a few offsets at a time, and each certificate gains a few signatures. */
const CACHED_MAX = 32

export function createCertificateChecks(network: Network & { readonly crypto: SignatureVerifier }) {
  /** Checks by the text of the certificate, least recently used first. Only valid certificates remain. */
  const cached = new Map<string, Promise<CheckedCertificate>>()

  const check = async (text: string): Promise<CheckedCertificate> => {
    const certificate = parseCertificate(text)
    await verifySignatures(certificate, network)
    const { offset, recordTime, historyHash, stateRoot, signatures } = certificate
    const names = signatures.map(([name]) => name)
    const signers = names.filter((name) => isTrusted(network.trust, name))
    const otherCount = names.length - signers.length
    return { offset, recordTime, historyHash, root: fromHex(stateRoot), signers, otherCount }
  }

  return {
    /**
     * The content of a certificate.
     *
     * @throws {InvalidProof} MALFORMED, OTHER_GENESIS, BAD_SIGNATURE.
     */
    async check(text: string): Promise<CheckedCertificate> {
      const checking = cached.get(text) ?? check(text)
      cached.delete(text)
      cached.set(text, checking)
      if (cached.size > CACHED_MAX) cached.delete(cached.keys().next().value as string)
      try {
        return await checking
      } catch (error) {
        if (cached.get(text) === checking) cached.delete(text)
        throw error
      }
    },
  }
}
