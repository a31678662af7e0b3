import { int, party, record, text } from '../lf.ts'
import { defineTemplate } from '../template.ts'

/**
 * Address record of a super-validator, signed by its scan key (D-34): the newest one, from its first record
 * on. A contract of its own, so that a change of address archives no contract that other submissions name.
 */
export const scanAddress = defineTemplate({
  packageName: 'quorumscan-dso',
  module: 'Dso',
  entity: 'ScanAddress',
  type: record('ScanAddress', {
    dso: party,
    sv: party,
    name: text,
    url: text,
    sequence: int,
    /** Ed25519, 128 hex digits. */
    signature: text,
  }),
  signatories: ({ dso }) => [dso],
  observers: ({ sv }) => [sv],
  keys: ({ sv }) => [`address:${sv}`],
})
