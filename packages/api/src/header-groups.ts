/** Response headers by the decision that defines them; exposed to browsers as one list (D-40). */
import { Type } from 'typebox'
import { INTEGER_TEXT } from './schemas/scalars.ts'

const text = (description: string) => Type.String({ description })
const integer = (description: string) => Type.String({ pattern: INTEGER_TEXT, description })

export const headerGroups = {
  /** Every answer and every error (D-10, D-33). */
  common: {
    'x-request-id': text('The id of the request, also in the log of the process.'),
    'x-ledger-head': integer('The newest offset that the node has applied.'),
    'x-ledger-head-time': text('The record time at the head, ISO-8601.'),
  },
  /** The offset that a lookup was answered at (D-10). */
  ledger: {
    'x-ledger-offset': integer('The offset at which the lookup was answered.'),
    'x-ledger-record-time': text('The record time of that offset, ISO-8601.'),
    'x-ledger-history-hash': text('The history hash at that offset, 64 hex digits.'),
  },
  /** What other answers of a validator reveal of the ledger (D-39). */
  readFloor: {
    'x-ledger-offset': integer(
      'The newest offset that the answer may reflect; later reads of the scan proxy are not older.',
    ),
  },
  /** The votes for a proxied answer (D-40). */
  quorum: {
    'x-quorum-outcome': text('verified, verified-absent, trusted or trusted-absent.'),
    'x-quorum-offset': integer('The offset at which the nodes agreed.'),
    'x-quorum-record-time': text('The record time of that offset, ISO-8601.'),
    'x-quorum-threshold': integer('How many equal votes were needed.'),
    'x-quorum-trust': text(
      'Names of the only members that count, comma-separated, if the proxy trusts some of them.',
    ),
    'x-quorum-asked': text(
      'Names of the nodes that were asked for their votes, comma-separated. Absent of certified answers.',
    ),
    'x-quorum-agreed': text('Names of the nodes that gave the answer, comma-separated.'),
    'x-quorum-dissented': text(
      'Names of the nodes asked that gave another answer, comma-separated.',
    ),
    'x-quorum-nodes': text('How many nodes voted in time, of how many: `3/4`.'),
  },
} as const

export type HeaderGroup = keyof typeof headerGroups

/** Every header of ours that a browser may read (D-40). */
export const exposedHeaders: readonly string[] = [
  ...new Set(Object.values(headerGroups).flatMap((group) => Object.keys(group))),
  'retry-after',
]
