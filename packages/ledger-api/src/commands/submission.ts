/**
 * Submits a checked request. A dry run on the replica comes first, so that a refusal comes at once and leaves no trace
 * (docs/upstream.md §L4.5, steps f to j). Then the dispatcher receives it.
 */
import { randomHex } from '@quorumscan/base'
import { LedgerError, type LedgerErrorCode, ScanError } from '@quorumscan/errors'
import { type Ledger, templateOf, templateRef } from '@quorumscan/ledger'
import {
  type Command,
  type CompletionRecord,
  type Micros,
  participantOfKey,
  partyParticipant,
  type UserId,
} from '@quorumscan/model'
import { dryRun } from '@quorumscan/submit'
import type { LedgerApiDeps } from '../dependencies.ts'
import type { ReadCommand } from './commands.ts'
import { refusalOf } from './completion-status.ts'
import type { Dispatcher } from './dispatcher.ts'
import type { CheckedRequest } from './request.ts'

type Refuse = (code: LedgerErrorCode, message: string) => never

/** Decided by the order in the log: reported by a completion (docs/upstream.md §L4.6). */
const DECIDED_BY_LOG = new Set(['DUPLICATE_COMMAND', 'INVALID_DEDUPLICATION_PERIOD'])
/** Templates that implement the one interface (D-31). */
const HOLDINGS = new Set(['Coin', 'LockedCoin'])

export type SubmissionDeps = Pick<
  LedgerApiDeps,
  'ledger' | 'registration' | 'dispatcher' | 'growth' | 'genesis' | 'genesisHash' | 'random'
>

/**
 * Returns once the submission is stored and cannot be lost.
 *
 * @throws {LedgerError} Definitely without effect, and without a completion.
 */
export async function submit(
  deps: SubmissionDeps,
  request: CheckedRequest,
  options: { readonly now: Micros },
): Promise<{ readonly outcome: Promise<CompletionRecord> }> {
  const submissionId = request.submissionId || randomHex(deps.random, 16)
  const { ledger, random, genesis, genesisHash } = deps
  const { participant } = deps.registration
  const refuse: Refuse = (code, message) => {
    throw new LedgerError(code, message, { correlationId: submissionId })
  }
  const { notBefore, userId, actAs, readAs, commandId, workflowId } = request
  // Commands of a party that this participant does not host cannot be run here (D-30). The operator party is one:
  // no process acts for it (D-29).
  const here = participantOfKey(participant)
  for (const party of [...actAs, ...readAs]) {
    if (!(await ledger.isPartyAllocated(party)))
      refuse('UNKNOWN_SUBMITTERS', `No participant hosts ${party}.`)
    if (partyParticipant(party) !== here)
      refuse(
        'NO_SYNCHRONIZER_ON_WHICH_ALL_SUBMITTERS_CAN_SUBMIT',
        `This participant does not host ${party}.`,
      )
  }
  const commands = await resolveInterfaces(ledger, request.commands)
  const { deduplication, disclosed } = request
  const base = { userId, actAs, readAs, commandId, submissionId, workflowId }
  const trace = request.traceparent === null ? {} : { traceparent: request.traceparent }
  const submission = { ...base, deduplication, commands, disclosed, ...trace }
  const own = { ledger, genesisHash, participant, random }
  const { result, countedGrowth } = await dryRun(own, submission, { ...options, notBefore })
  // Interpretation looks for duplicates first. So a repeated change is reported as a duplicate, although its contracts may
  // be consumed: the submitter learns that it took effect, and where.
  if (result.kind === 'rejected' && !DECIDED_BY_LOG.has(result.code))
    throw refusalOf(result, submissionId)
  checkSynchronizers(request, genesis.synchronizerId, refuse)
  return await dispatchWithinShare(deps, { ...submission, notBefore }, countedGrowth)
}

/** @param growth - Of the user's share, until it is known that the submission had no effect. */
async function dispatchWithinShare(
  { dispatcher, growth: shares }: Pick<LedgerApiDeps, 'dispatcher' | 'growth'>,
  input: Parameters<Dispatcher['dispatch']>[0],
  growth: number,
) {
  const giveBack = takeShare(shares, input, growth)
  try {
    const { outcome } = await dispatcher.dispatch(input)
    void outcome.then((record) => record.outcome.kind !== 'accepted' && giveBack())
    return { outcome }
  } catch (error) {
    // Without a definite answer it may be stored, and take effect.
    if (error instanceof ScanError && error.spec.definite) giveBack()
    throw error
  }
}

function takeShare(
  shares: LedgerApiDeps['growth'],
  { userId, submissionId }: { readonly userId: UserId; readonly submissionId: string },
  growth: number,
): () => void {
  try {
    return shares.take(userId, growth)
  } catch (error) {
    if (error instanceof ScanError) throw refusalOf(error, submissionId)
    throw error
  }
}

/** Step h, with one synchronizer. */
function checkSynchronizers(request: CheckedRequest, own: string, refuse: Refuse): void {
  const { synchronizerId: prescribed, disclosedSynchronizers } = request
  const [disclosed, another] = disclosedSynchronizers
  const mismatch = 'DISCLOSED_CONTRACTS_SYNCHRONIZER_ID_MISMATCH'
  if (another !== undefined)
    refuse(mismatch, 'The disclosed contracts are on several synchronizers.')
  if (disclosed !== undefined && prescribed !== '' && disclosed !== prescribed)
    refuse(
      'PRESCRIBED_SYNCHRONIZER_ID_MISMATCH',
      'The disclosed contracts are not on the prescribed synchronizer.',
    )
  if (prescribed !== '' && prescribed !== own)
    refuse(
      'INVALID_PRESCRIBED_SYNCHRONIZER_ID',
      `This participant is not connected to ${prescribed}.`,
    )
  if (disclosed !== undefined && disclosed !== own)
    refuse(
      mismatch,
      'The disclosed contracts are on a synchronizer that this participant is not connected to.',
    )
}

/**
 * An exercise by interface is one of the contract's own template. A contract that is unknown, or no holding,
 * stays a coin: interpretation then reports which of the two it is, if the submitters may know.
 */
async function resolveInterfaces(ledger: Ledger, commands: readonly ReadCommand[]) {
  const resolve = async ({ command, isByInterface }: ReadCommand): Promise<Command> => {
    if (!isByInterface || command.kind !== 'exercise') return command
    const [contract] = await ledger.contracts([command.contractId])
    const template = contract ? templateOf(contract) : null
    return template && HOLDINGS.has(template.entity)
      ? { ...command, template: templateRef(template) }
      : command
  }
  return await Promise.all(commands.map(resolve))
}
