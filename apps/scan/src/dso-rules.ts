/** Reading the DsoRules contract. Its payload is the ledger's own, so its shape is known. */
import type { Contract } from '@quorumscan/model'

export type SuperValidator = {
  readonly name: string
  readonly party: string
  /** The newest address record (D-34); null until the node submitted one. */
  readonly scan: {
    readonly url: string
    readonly sequence: number
    readonly signature: string
  } | null
}

type WireScan = { readonly url: string; readonly sequence: string; readonly signature: string }

/** In the order of the contract. */
export function superValidators(dsoRules: Contract): readonly SuperValidator[] {
  const svs = dsoRules.payload['svs'] as unknown as readonly {
    readonly name: string
    readonly party: string
    readonly scan: WireScan | null
  }[]
  return svs.map(({ name, party, scan }) => ({
    name,
    party,
    // Daml-LF JSON writes integers as texts (D-4).
    scan: scan === null ? null : { ...scan, sequence: Number(scan.sequence) },
  }))
}
