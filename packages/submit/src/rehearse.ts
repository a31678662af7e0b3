import { assert, type Random, randomHex } from '@quorumscan/base'
import type { Ledger } from '@quorumscan/ledger'
import type { EntryResult, Micros } from '@quorumscan/model'
import type { SubmissionBody } from './sign.ts'

/** µs that the rehearsal's `notAfter` lies ahead; only its being ahead matters. */
const AHEAD_MICROS = 60_000_000

export type Rehearsed = Extract<EntryResult, { kind: 'accepted' | 'rejected' }>

/** What the ledger would say to the submission if it were the next entry. The log never hears of it. */
export async function rehearse(
  deps: {
    readonly ledger: Pick<Ledger, 'dryRun' | 'head'>
    readonly genesisHash: string
    /** Public key, hex. */
    readonly participant: string
    readonly random: Random
  },
  body: SubmissionBody,
  at: {
    readonly now: Micros
    /** Record time that the entry must not precede; 0 for none. */
    readonly notBefore: Micros
  },
): Promise<Rehearsed> {
  const { ledger, genesisHash, participant, random } = deps
  const result = await ledger.dryRun(
    {
      ...body,
      genesis: genesisHash,
      participant,
      id: randomHex(random, 16),
      notAfter: Math.max(at.now, at.notBefore, ledger.head().recordTime) + AHEAD_MICROS,
    },
    { notBefore: at.notBefore },
  )
  assert(
    result.kind === 'accepted' || result.kind === 'rejected',
    'a submission of our own is accepted or rejected',
  )
  return result
}
