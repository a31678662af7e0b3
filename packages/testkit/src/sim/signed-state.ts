/** One state that the members of a network have signed, and documents that prove answers from it. */
import { toHex } from '@quorumscan/base'
import { encodeStateStatement } from '@quorumscan/verifier'
import { encodeCertificate, encodeDocument, type Question } from '@quorumscan/verifier/certified'
import type { TestNetwork } from '../test-network.ts'
import type { SimEntry } from './sim-ledger.ts'
import { createSimStates } from './sim-states.ts'

export type SignedState = {
  /** A certificate with the signatures of the members at these positions. Default: all members. */
  certificate(...signers: readonly number[]): string
  /** The document that proves the answer. */
  document(question: Question<unknown>, certificate?: string): string
}

export function createSignedState(
  { genesisHash, scans }: TestNetwork,
  at: {
    readonly offset: number
    /** µs since the epoch. */
    readonly recordTime: number
    readonly entries: readonly SimEntry[]
  },
): SignedState {
  const { offset, recordTime, entries } = at
  const states = createSimStates()
  states.append({ offset, put: entries, remove: [], isCertifiable: true })
  const stateRoot = toHex(states.rootAt(offset))
  const point = { genesisHash, offset, recordTime, historyHash: 'ab'.repeat(32), stateRoot }
  const signatures = scans.map(
    (key, index) => [`sv-${index + 1}`, toHex(key.sign(encodeStateStatement(point)))] as const,
  )
  const certificate: SignedState['certificate'] = (...signers) =>
    encodeCertificate({
      ...point,
      signatures: signatures.filter((_, index) => signers.length === 0 || signers.includes(index)),
    })
  return {
    certificate,
    document: (question, by = certificate()) => encodeDocument(by, states.prove(question, at)),
  }
}
