export type InvalidProofCode =
  /** Not of the one form that it may have. */
  | 'MALFORMED'
  | 'OTHER_GENESIS'
  | 'BAD_SIGNATURE'
  | 'TOO_FEW_SIGNERS'
  /** The state that is certified is not shown to answer this request in this way. */
  | 'NOT_PROVEN'

/** The document proves nothing about the request. The message has the reason. */
export class InvalidProof extends Error {
  override readonly name = 'InvalidProof'
  readonly code: InvalidProofCode

  constructor(code: InvalidProofCode, message: string, options?: ErrorOptions) {
    super(message, options)
    this.code = code
  }
}
