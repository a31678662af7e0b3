/** One submission: its defaults, its signed bytes, and the result that the ledger would give. */
import { assert, type KeyPair, type Random, randomHex, sha256Hex } from '@quorumscan/base'
import { addsToState, type Ledger, NEWEST_RULES, prepareEntry } from '@quorumscan/ledger'
import type { Deduplication, EntryResult, Micros, Submission } from '@quorumscan/model'
import { NOT_AFTER_MICROS_MAX } from '@quorumscan/verifier'

/** µs by which the `notAfter` of a dry run is ahead of the log. Any positive number has the same effect. */
const AHEAD_MICROS = 60_000_000

/** The process that signs. */
export type Participant = {
  /** Hex. */
  readonly genesisHash: string
  readonly keyPair: KeyPair
  readonly random: Random
}

/** The fields of a submission that its submitter decides. */
type SubmissionBody = Omit<Submission, 'genesis' | 'participant' | 'id' | 'notAfter'>

export type SubmitInput = Pick<SubmissionBody, 'userId' | 'actAs' | 'commands'> & {
  /** Contracts that the commands use and the submitters do not see. */
  readonly disclosed?: SubmissionBody['disclosed']
  /** Two submissions with the same one, user and actAs take effect once (D-29). Default: a random one. */
  readonly commandId?: string
  /** Reported by the completion. Default: none. */
  readonly submissionId?: string
  /** Default: 10 min if there is a `commandId`, as long as an earlier submission may take effect. */
  readonly deduplication?: Deduplication
}

/** Adds the defaults. */
export function submissionBody(input: SubmitInput, random: Random): SubmissionBody {
  const { userId, actAs, commands, disclosed = [], commandId, submissionId = '' } = input
  const micros = commandId === undefined ? 0 : NOT_AFTER_MICROS_MAX
  return {
    userId,
    actAs,
    readAs: [],
    commandId: commandId ?? randomHex(random, 16),
    submissionId,
    workflowId: '',
    deduplication: input.deduplication ?? { kind: 'duration', micros },
    commands,
    disclosed,
  }
}

export type SignedSubmission = {
  readonly submission: Submission
  readonly bytes: Uint8Array
  /** SHA-256 of the bytes, hex. */
  readonly entryHash: string
}

export type OwnDryRun = {
  readonly result: Extract<EntryResult, { kind: 'accepted' | 'rejected' }>
  /** Bytes by which the state would grow; 0 of what always may add some, as renewals (`addsToState`). */
  readonly countedGrowth: number
}

/** A submission before it is signed: its owner takes its share first. */
export type PreparedSubmission = {
  /** Of the signed entry. */
  readonly byteLength: number
  sign(): SignedSubmission
}

/** A submission that has no effect after `notAfter`. @throws {RangeError} If it is too large, or malformed. */
export function prepareSubmission(
  { genesisHash: genesis, keyPair, random }: Participant,
  body: SubmissionBody,
  notAfter: Micros,
): PreparedSubmission {
  const { publicKey: participant } = keyPair
  const submission = { ...body, genesis, participant, id: randomHex(random, 16), notAfter }
  const entry = prepareEntry(submission, keyPair)
  return {
    byteLength: entry.byteLength,
    sign() {
      const bytes = entry.sign()
      return { submission, bytes, entryHash: sha256Hex(bytes) }
    },
  }
}

/** As `prepareSubmission`, signed at once. */
export function signSubmission(...input: Parameters<typeof prepareSubmission>): SignedSubmission {
  return prepareSubmission(...input).sign()
}

/** What the ledger would do with the submission as the next entry. It does not get into the log. */
export async function dryRun(
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
): Promise<OwnDryRun> {
  const { ledger, genesisHash: genesis, participant, random } = deps
  const { notBefore } = at
  const notAfter = Math.max(at.now, notBefore, ledger.head().recordTime) + AHEAD_MICROS
  const submission = { ...body, genesis, participant, id: randomHex(random, 16), notAfter }
  const { result, growth } = await ledger.dryRun(submission, { notBefore })
  assert(
    result.kind === 'accepted' || result.kind === 'rejected',
    'a submission of our own is accepted or rejected',
  )
  return { result, countedGrowth: addsToState(submission, NEWEST_RULES) ? growth : 0 }
}
