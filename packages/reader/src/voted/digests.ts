/** The last touch to what was not decided: digests of what the nodes said, in the place of it. */
import type { CryptoPort } from '@quorumscan/verifier'
import { toHex } from '@quorumscan/verifier'
import type { Outcome } from '../votes/outcome.ts'
import type { Undecided, Undigested } from './messages.ts'

const DIGEST_DIGITS = 16

export async function withDigests(outcome: Undecided, crypto: CryptoPort): Promise<Outcome> {
  if (outcome.kind !== 'disputed') return outcome
  const digested = async ({ answer, ...group }: Undigested) => ({
    ...group,
    answerDigest: toHex(await crypto.sha256(answer)).slice(0, DIGEST_DIGITS),
  })
  return { ...outcome, groups: await Promise.all(outcome.groups.map(digested)) }
}
