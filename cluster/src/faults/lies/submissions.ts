/**
 * Submissions of a super-validator against all others, with its own operator key: confirmations of payments that do not exist
 * and of every contract; refunds of valid payments; or a flood. Interpretation must ignore them (D-23), and the log must not
 * stall.
 */
import { type Clock, type KeyPair, type Random, randomHex } from '@quorumscan/base'
import {
  type AppliedEntry,
  confirmResolveCommand,
  expirePaymentCommand,
  isOf,
  type Ledger,
  type Ordering,
  subscriptionInitialPayment,
} from '@quorumscan/ledger'
import type { Command, ContractId, PartyId } from '@quorumscan/model'
import { repeat } from '@quorumscan/runtime'
import { createSubmitter } from '@quorumscan/submit'
import type { LieKind } from '../../view/lies.ts'

const INTERVAL_MS = 500
/** Contracts that wait for a submission, so that the liar needs bounded memory. */
const SEEN_MAX = 100
const SEEN_PER_ROUND_MAX = 5
const SUBMIT_TIMEOUT_MS = 5000
const ID_BYTES = 32
/** Concurrent submissions of a flood: more than its rate allows. */
const FLOOD_WORKERS = 16
/** Between the submissions of a worker: immediate refusals must not use all of the CPU. */
const FLOOD_PAUSE_MS = 10

/** The lies that submit to the log. */
const SUBMITTED_LIES = ['confirm', 'against', 'flood'] as const
type SubmittedLie = (typeof SUBMITTED_LIES)[number]

/** Submits while such a lie is set. `close` waits until the last submission has ended. */
export function createFalseSubmitter(deps: {
  readonly ledger: Ledger
  readonly submit: Ordering['submit']
  readonly genesisHash: string
  readonly operatorKey: KeyPair
  readonly party: PartyId
  readonly userId: string
  readonly clock: Clock
  readonly random: Random
}) {
  const { ledger, genesisHash, operatorKey: keyPair, party, clock, random } = deps
  const ordering = { submit: deps.submit }
  const submitter = createSubmitter({ ordering, ledger, genesisHash, keyPair, clock, random })
  let active: { readonly lie: SubmittedLie; readonly over: AbortController } | null = null
  let running: Promise<void> = Promise.resolve()

  /** Submits a command that is refused. */
  const submit = async (commandOf: (dsoRules: ContractId) => Command, signal: AbortSignal) => {
    try {
      const [dsoRules] = await ledger.contractsByKey('singleton:DsoRules', { limit: 1 })
      if (dsoRules === undefined) return
      const commands = [commandOf(dsoRules.contractId)]
      const input = { userId: deps.userId, actAs: [party], commands }
      await submitter.submit(input, { signal, timeoutMs: SUBMIT_TIMEOUT_MS })
    } catch {
      // Refused, as expected.
    }
  }
  const confirm = (payment: ContractId) => (dsoRules: ContractId) =>
    confirmResolveCommand({ dsoRules, confirmer: party, payment })
  const refund = (payment: ContractId) => (dsoRules: ContractId) =>
    expirePaymentCommand({ dsoRules, sv: party, payment })
  const invented = () => `00${randomHex(random, ID_BYTES)}` as ContractId
  const flood = async (signal: AbortSignal): Promise<void> => {
    const work = () => submit(confirm(invented()), signal)
    const start = () => repeat(work, { clock, everyMs: FLOOD_PAUSE_MS, signal }).ended
    await Promise.all(Array.from({ length: FLOOD_WORKERS }, start))
  }

  const answerContracts = async (lie: Exclude<SubmittedLie, 'flood'>, signal: AbortSignal) => {
    const seen: ContractId[] = []
    const stopListening = ledger.onApplied(({ created }: AppliedEntry) => {
      for (const contract of created) {
        const isMeant = lie === 'confirm' || isOf(subscriptionInitialPayment, contract)
        if (isMeant && seen.length < SEEN_MAX) seen.push(contract.contractId)
      }
    })
    const work = async () => {
      const ids = seen.splice(0, SEEN_PER_ROUND_MAX)
      if (lie === 'confirm') ids.push(invented())
      for (const id of ids) await submit(lie === 'confirm' ? confirm(id) : refund(id), signal)
    }
    await repeat(work, { clock, everyMs: INTERVAL_MS, signal }).ended.finally(stopListening)
  }

  const stop = () => {
    active?.over.abort(new Error('the lie is over'))
    active = null
  }
  return {
    /** Other lies, and null, make no submissions. */
    set(next: LieKind | null): void {
      const lie = SUBMITTED_LIES.find((one) => one === next)
      if (lie === active?.lie) return
      stop()
      if (lie === undefined) return
      const over = new AbortController()
      active = { lie, over }
      running = running.then(() =>
        lie === 'flood' ? flood(over.signal) : answerContracts(lie, over.signal),
      )
    },
    async close(): Promise<void> {
      stop()
      await running
    },
  }
}
