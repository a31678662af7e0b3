/** Certificates checked once each, whatever the number of answers that come with them. */
import { fromHex } from '../encoding/bytes.ts'
import type { HistoryPoint } from '../statements/statements.ts'
import {
  type Network,
  parseCertificate,
  type SignatureVerifier,
  verifySignatures,
} from './certificate.ts'

export type CheckedCertificate = HistoryPoint & {
  /** Of the state tree. */
  readonly root: Uint8Array
  /** Who signed it, in the order of the genesis. They may be too few: the reader counts them. */
  readonly signers: readonly string[]
}

export interface CertificateChecks {
  /**
   * What a certificate says.
   *
   * @throws {InvalidProof} MALFORMED, OTHER_GENESIS, BAD_SIGNATURE.
   */
  check(text: string): Promise<CheckedCertificate>
}

/** Nodes are at a few offsets at a time, and each certificate grows by a few signatures. */
const KEPT_MAX = 32

export function createCertificateChecks(
  network: Network & { readonly crypto: SignatureVerifier },
): CertificateChecks {
  /** By text, the one that was asked for longest ago first; only those that are genuine stay. */
  const kept = new Map<string, Promise<CheckedCertificate>>()

  const check = async (text: string): Promise<CheckedCertificate> => {
    const certificate = parseCertificate(text)
    await verifySignatures(certificate, network)
    const { offset, recordTime, historyHash, stateRoot, signatures } = certificate
    const signers = signatures.map(([name]) => name)
    return { offset, recordTime, historyHash, root: fromHex(stateRoot), signers }
  }

  return {
    async check(text) {
      const known = kept.get(text)
      const checking = known ?? check(text)
      kept.delete(text)
      kept.set(text, checking)
      if (kept.size > KEPT_MAX) kept.delete(kept.keys().next().value as string)
      try {
        return await checking
      } catch (error) {
        if (kept.get(text) === checking) kept.delete(text)
        throw error
      }
    },
  }
}
