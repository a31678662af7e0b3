/**
 * The definition of a job, one for each kind of work, and the input of its processor. It does not depend on BullMQ:
 * `worker.ts` runs definitions, and `sweep.ts` finds the contracts for which they run.
 */
import type { Ledger } from '@quorumscan/ledger'
import type {
  Amount,
  Command,
  Contract,
  ContractId,
  DisclosedContract,
  PartyId,
} from '@quorumscan/model'
import type { Submitter } from '@quorumscan/submit'

/**
 * One kind of work. The queue has its name, the job's id is the contract's id, and there is no other job
 * data: everything else is read from the ledger.
 */
export type JobDefinition<Deps> = {
  /** Equal to `DueItem.job`, unless it has `due`. */
  readonly name: string
  /**
   * 'every-member': each member does its own part. Default: the work of one member is enough. Members start one after
   * the other, and the later ones usually find nothing left to do.
   */
  readonly runsOn?: 'every-member'
  /**
   * Returns the due contracts that this process must handle, e.g. those of parties that it hosts. Without `select`, it
   * handles all. Called in every sweep with a page of due contracts.
   */
  select?(contractIds: readonly ContractId[], deps: Deps): Promise<readonly ContractId[]>
  /**
   * Returns the contracts for which it is due. Called in every sweep. Without `due`, the ledger has what is due under
   * its name.
   */
  due?(deps: Deps): Promise<readonly ContractId[]>
  /**
   * Does the work, or nothing when it is done already: any job may run twice, also at the same time.
   *
   * @throws {ScanError} With a retryable code, or one that means that the ledger has changed
   *   (`worker.ts`), to be run again later; anything else drops the job and records why.
   */
  process(contractId: ContractId, deps: Deps & JobRun): Promise<void>
}

/** Each run of a processor receives this in addition to the dependencies of its kind. */
export type JobRun = {
  /** Aborts when the process shuts down. */
  readonly signal: AbortSignal
  /** Postpones the next run of the job. To postpone is not a failure. */
  readonly postponeBy: (ms: number) => void
}

/** The dependencies of every job that submits. */
type SubmittingDeps = {
  readonly ledger: Ledger
  readonly submit: (...parameters: Parameters<Submitter['submit']>) => Promise<unknown>
  /** Names the automation in completions. */
  readonly userId: string
}

/** The dependencies of the operator jobs of a super-validator. */
export type OperatorDeps = SubmittingDeps & {
  /** The super-validator's own party, hosted by its operator key. */
  readonly party: PartyId
  /** Where the coin of this party is sent that exceeds `keep`; null: it stays. */
  readonly rewards: { readonly to: PartyId; readonly keep: Amount } | null
}

/** The dependencies of the wallet jobs of a validator. */
export type WalletJobDeps = SubmittingDeps & {
  /** Whether the party lives on this validator's participant, which alone may act for it (D-30). */
  readonly isHosted: (party: PartyId) => boolean
  /** For the `reference` of each subscription, in order: whether a user wants it renewed (D-21). */
  readonly areAutoRenewed: (references: readonly ContractId[]) => Promise<readonly boolean[]>
  /**
   * Pays a renewal out of the owner's coin, after everything else that spends it; nothing if
   * auto-renewal was switched off before, or is paused.
   *
   * @returns `paused`: no user may act for whom it would be paid.
   * @throws {ScanError} INSUFFICIENT_FUNDS or LIMIT_EXCEEDED while the owner cannot pay.
   */
  readonly payRenewal: (idle: Contract, signal: AbortSignal) => Promise<'done' | 'paused'>
}

/** A submission whose entry is not seen within this is tried again: log and checkpoints take under 1 s. */
const SUBMIT_TIMEOUT_MS = 10_000

/** A command and its party: the one of the super-validator, or one that the validator hosts. */
export type Act = {
  readonly party: PartyId
  readonly command: Command
  /** Contracts that the command uses and the party cannot see. */
  readonly disclosed?: readonly DisclosedContract[]
}

/**
 * A job that submits one command for its contract, unless the contract is archived or `commandFor` finds nothing to do.
 *
 * The command id is that of job and contract, so a second submission while the first one's outcome is
 * unknown changes nothing: it is refused as a duplicate once the first was accepted.
 */
export function submittingJob<Deps extends SubmittingDeps>(
  row: Omit<JobDefinition<Deps>, 'process'> & {
    commandFor(contract: Contract, deps: Deps): Act | null | Promise<Act | null>
  },
): JobDefinition<Deps> {
  return {
    ...row,
    async process(contractId, deps) {
      const [contract = null] = await deps.ledger.contracts([contractId])
      const act = contract && (await row.commandFor(contract, deps))
      if (act === null) return
      const { submit, userId, signal } = deps
      const commandId = `${row.name}-${contractId}`
      const { disclosed = [] } = act
      await submit(
        { userId, actAs: [act.party], commands: [act.command], disclosed, commandId },
        { signal, timeoutMs: SUBMIT_TIMEOUT_MS },
      )
    },
  }
}
