/**
 * Commands of the validator's own users: interpreted against the replica first, so that a refusal is
 * certain and leaves no trace in the log, then submitted and waited for.
 */
import { assert, type Clock, type Random, randomHex } from '@quorumscan/base'
import { ScanError } from '@quorumscan/errors'
import { errorCodeOf, type Ledger } from '@quorumscan/ledger'
import type {
  Command,
  ContractId,
  DamlValue,
  Deduplication,
  DisclosedContract,
  Micros,
  PartyId,
  Update,
  UserId,
} from '@quorumscan/model'

/** Log, checkpoints and apply take well under a second; more means that something is down. */
const SUBMIT_TIMEOUT_MS = 15_000
/** µs that the dry run's `notAfter` lies ahead of the head and of the clock; only its being ahead matters. */
const DRY_RUN_MICROS = 60_000_000

export type CommandInput = {
  readonly userId: UserId
  readonly actAs: readonly PartyId[]
  readonly commands: readonly Command[]
  /** What the commands use and the submitters do not see. */
  readonly disclosed?: readonly DisclosedContract[]
  /** Two submissions with one command id, user and actAs take effect once (D-29). Default: a random one. */
  readonly commandId?: string
}

/** The part of the ledger's submitter that is needed here. */
type SubmitPort = {
  submit(
    input: CommandInput & { readonly commandId: string; readonly deduplication: Deduplication },
    options: { readonly signal: AbortSignal; readonly timeoutMs: number },
  ): Promise<{ readonly update: Update }>
}

export interface Commander {
  /**
   * What the ledger would refuse the commands with if they were the next entry; null if nothing. The log
   * never hears of it.
   *
   * @throws {ScanError} NOT_READY while the replica catches up.
   */
  rehearse(input: CommandInput): Promise<ScanError | null>
  /**
   * What the commands did, once the validator's own replica has applied them.
   *
   * @throws {ScanError} NOT_READY while the replica catches up; the code of the refusal; SUBMISSION_UNKNOWN
   *   if the outcome was not seen in time.
   */
  submit(input: CommandInput, signal: AbortSignal): Promise<Update>
}

export type CommanderDeps = {
  readonly ledger: Ledger
  readonly submitter: SubmitPort
  readonly genesisHash: string
  /** Public key of the participant, hex. */
  readonly participant: string
  /** How far back a command id counts, as long as the ledger allows (D-29). */
  readonly deduplicationMicros: Micros
  readonly clock: Clock
  readonly random: Random
  /** @throws {ScanError} NOT_READY while the replica is behind. */
  readonly assertLive: () => void
}

export function createCommander(deps: CommanderDeps): Commander {
  const deduplication: Deduplication = { kind: 'duration', micros: deps.deduplicationMicros }

  const rehearse = async (
    input: CommandInput & { readonly commandId: string },
  ): Promise<ScanError | null> => {
    deps.assertLive()
    const rehearsed = await deps.ledger.dryRun({
      genesis: deps.genesisHash,
      participant: deps.participant,
      id: randomHex(deps.random, 16),
      notAfter: Math.max(deps.ledger.head().recordTime, deps.clock.nowMicros()) + DRY_RUN_MICROS,
      userId: input.userId,
      actAs: input.actAs,
      readAs: [],
      commandId: input.commandId,
      submissionId: '',
      workflowId: '',
      deduplication,
      commands: input.commands,
      disclosed: input.disclosed ?? [],
    })
    if (rehearsed.kind === 'rejected')
      return new ScanError(errorCodeOf(rehearsed.code), rehearsed.message)
    assert(rehearsed.kind === 'accepted', 'a submission of our own is accepted or rejected')
    return null
  }
  const withId = (input: CommandInput) => ({
    ...input,
    commandId: input.commandId ?? randomHex(deps.random, 16),
  })

  return {
    rehearse: (input) => rehearse(withId(input)),
    async submit(input, signal) {
      const command = withId(input)
      const refusal = await rehearse(command)
      if (refusal !== null) throw refusal
      const { update } = await deps.submitter.submit(
        { ...command, deduplication },
        { signal, timeoutMs: SUBMIT_TIMEOUT_MS },
      )
      return update
    },
  }
}

/** The result of the first command, which must be an exercise. */
function exerciseResult(update: Update): { readonly [field: string]: DamlValue } {
  const [event] = update.events
  assert(event?.kind === 'exercised', 'the update begins with the exercise that was commanded')
  assert(
    typeof event.result === 'object' && event.result !== null && !Array.isArray(event.result),
    'choices return records',
  )
  return event.result as { readonly [field: string]: DamlValue }
}

/** A contract id in the result of the first command. */
export function resultContractId(update: Update, field: string): ContractId {
  const id = exerciseResult(update)[field]
  assert(typeof id === 'string', `the result has a contract id ${field}`)
  return id
}

/** A list of contract ids in the result of the first command. */
export function resultContractIds(update: Update, field: string): ContractId[] {
  const ids = exerciseResult(update)[field]
  assert(Array.isArray(ids), `the result has contract ids ${field}`)
  return ids.map(String)
}
