/**
 * Submitting what was checked: tried against the replica first, so that whatever can be known is said at once
 * and leaves no trace (docs/upstream.md §L4.5, steps f to j), then given to the dispatcher.
 */
import { type Random, randomHex } from '@quorumscan/base'
import { LedgerError } from '@quorumscan/errors'
import { type Ledger, templateOf, templateRef } from '@quorumscan/ledger'
import {
  type Command,
  type CompletionRecord,
  type Micros,
  participantOfKey,
  partyParticipant,
} from '@quorumscan/model'
import { rehearse } from '@quorumscan/submit'
import type { ReadCommand } from './commands.ts'
import type { Dispatcher } from './dispatcher.ts'
import { refusalOf } from './refusals.ts'
import type { CheckedRequest } from './request.ts'

export type SubmissionDeps = {
  readonly ledger: Ledger
  readonly dispatcher: Pick<Dispatcher, 'dispatch'>
  readonly genesisHash: string
  readonly synchronizerId: string
  /** Public key, hex. */
  readonly participant: string
  readonly random: Random
}

/** What the log decides, by the order in it: told by a completion (docs/upstream.md §L4.6). */
const DECIDED_BY_LOG = new Set(['DUPLICATE_COMMAND', 'INVALID_DEDUPLICATION_PERIOD'])
/** Templates that implement the one interface (D-31). */
const HOLDINGS = new Set(['Coin', 'LockedCoin'])

/**
 * Returns when the submission is stored; it is not lost any more.
 *
 * @throws {LedgerError} Definitely without effect, and without a completion.
 */
export async function submit(
  deps: SubmissionDeps,
  request: CheckedRequest,
  options: { readonly now: Micros },
): Promise<{ readonly outcome: Promise<CompletionRecord> }> {
  const submissionId = request.submissionId || randomHex(deps.random, 16)
  await checkSubmitters(deps, request, submissionId)
  const commands = await resolveInterfaces(deps.ledger, request.commands)
  const { notBefore, userId, actAs, readAs, commandId, workflowId } = request
  const { deduplication, disclosed } = request
  const base = { userId, actAs, readAs, commandId, submissionId, workflowId }
  const trace = request.traceparent === null ? {} : { traceparent: request.traceparent }
  const submission = { ...base, deduplication, commands, disclosed, ...trace }
  const rehearsed = await rehearse(deps, submission, { ...options, notBefore })
  // Interpretation looks for duplicates first. A repeated change is told as such, although its contracts
  // may be used up by now: its submitter learns that it took effect, and where.
  if (rehearsed.kind === 'rejected' && !DECIDED_BY_LOG.has(rehearsed.code))
    throw refusalOf(rehearsed, submissionId)
  checkSynchronizers(request, { submissionId, synchronizerId: deps.synchronizerId })
  return deps.dispatcher.dispatch({ ...submission, notBefore })
}

/**
 * A submitter that is hosted elsewhere, or nowhere, cannot even be tried here (D-30). The operator is one of
 * them: nobody acts for it (D-29).
 */
async function checkSubmitters(
  { ledger, participant }: SubmissionDeps,
  { actAs, readAs }: CheckedRequest,
  correlationId: string,
): Promise<void> {
  const here = participantOfKey(participant)
  for (const party of [...actAs, ...readAs]) {
    if (!(await ledger.isPartyAllocated(party)))
      throw new LedgerError('UNKNOWN_SUBMITTERS', `No participant hosts ${party}.`, {
        correlationId,
      })
    if (partyParticipant(party) !== here)
      throw new LedgerError(
        'NO_SYNCHRONIZER_ON_WHICH_ALL_SUBMITTERS_CAN_SUBMIT',
        `This participant does not host ${party}.`,
        { correlationId },
      )
  }
}

/** Step h, with one synchronizer. */
function checkSynchronizers(
  request: CheckedRequest,
  own: { readonly submissionId: string; readonly synchronizerId: string },
): void {
  const { synchronizerId: prescribed, disclosedSynchronizers } = request
  const refuse = (code: ConstructorParameters<typeof LedgerError>[0], message: string) => {
    throw new LedgerError(code, message, { correlationId: own.submissionId })
  }
  if (disclosedSynchronizers.length > 1)
    refuse(
      'DISCLOSED_CONTRACTS_SYNCHRONIZER_ID_MISMATCH',
      'The disclosed contracts are on several synchronizers.',
    )
  const [disclosed] = disclosedSynchronizers
  if (disclosed !== undefined && prescribed !== '' && disclosed !== prescribed)
    refuse(
      'PRESCRIBED_SYNCHRONIZER_ID_MISMATCH',
      'The disclosed contracts are not on the prescribed synchronizer.',
    )
  if (prescribed !== '' && prescribed !== own.synchronizerId)
    refuse(
      'INVALID_PRESCRIBED_SYNCHRONIZER_ID',
      `This participant is not connected to ${prescribed}.`,
    )
  if (disclosed !== undefined && disclosed !== own.synchronizerId)
    refuse(
      'DISCLOSED_CONTRACTS_SYNCHRONIZER_ID_MISMATCH',
      'The disclosed contracts are on a synchronizer that this participant is not connected to.',
    )
}

/**
 * An exercise by interface is one of the contract's own template. A contract that is unknown, or no holding,
 * stays a coin: interpretation then says which of the two it is, if the submitters may know.
 */
async function resolveInterfaces(
  ledger: Ledger,
  commands: readonly ReadCommand[],
): Promise<readonly Command[]> {
  const ids = commands.flatMap(({ command, isByInterface }) =>
    isByInterface && command.kind === 'exercise' ? [command.contractId] : [],
  )
  if (ids.length === 0) return commands.map(({ command }) => command)
  const contracts = await ledger.contracts(ids)
  const byId = new Map(contracts.flatMap((one) => (one === null ? [] : [[one.contractId, one]])))
  return commands.map(({ command, isByInterface }) => {
    if (!isByInterface || command.kind !== 'exercise') return command
    const contract = byId.get(command.contractId)
    if (contract === undefined) return command
    const template = templateOf(contract)
    return HOLDINGS.has(template.entity) ? { ...command, template: templateRef(template) } : command
  })
}
