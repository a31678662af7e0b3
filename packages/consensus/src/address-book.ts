/** A node's own statement of where it can be reached (D-34), as `/v0/scans` serves it. */
export type AddressRecord = {
  readonly name: string
  readonly url: string
  readonly sequence: number
  /** Ed25519 over the address statement, lower-case hex. */
  readonly signature: string
}
