/** What every super-validator runs. A new kind of work is one row here. */
import { assert } from '@quorumscan/base'
import {
  advanceRoundsCommand,
  collectRenewalCommand,
  confirmResolveCommand,
  expireEntryCommand,
  expirePaymentCommand,
  expireRequestCommand,
  expireSubscriptionCommand,
  terminateSubscriptionCommand,
} from '@quorumscan/ledger'
import {
  type Command,
  type Contract,
  type ContractId,
  type PartyId,
  parseTime,
} from '@quorumscan/model'
import { activeContract, type JobDefinition, type OperatorDeps, submitFor } from './job.ts'

/** The rules that each command of a super-validator exercises, and its party. */
type BySuperValidator = { readonly dsoRules: ContractId; readonly sv: PartyId }

/** Submits one command for a contract, unless that is gone or `isWanted` sees that there is nothing to do. */
function operatorJob(
  name: string,
  row: {
    readonly doc: string
    /** 'one' by default. */
    readonly share?: 'every'
    isWanted?(contract: Contract, deps: OperatorDeps): boolean | Promise<boolean>
    command(contractId: ContractId, by: BySuperValidator): Command
  },
): JobDefinition<OperatorDeps> {
  const { doc, share = 'one', isWanted = () => true } = row
  return {
    name,
    doc,
    share,
    async process(contractId, deps) {
      const contract = await activeContract(deps.ledger, contractId)
      if (contract === null || !(await isWanted(contract, deps))) return
      // It exists from genesis on (D-29).
      const [rules] = await deps.ledger.contractsByKey('singleton:DsoRules', { limit: 1 })
      assert(rules !== undefined, 'the ledger has no DsoRules')
      const { party } = deps
      const command = row.command(contractId, { dsoRules: rules.contractId, sv: party })
      await submitFor(deps, name, contractId, { party, command })
    },
  }
}

export const operatorJobs: readonly JobDefinition<OperatorDeps>[] = [
  // Says "resolve payment P", once. Whether that means collect or refund is decided by interpretation when
  // the q-th confirmation arrives (D-23).
  operatorJob('resolve-initial-payment', {
    doc: "Submits this super-validator's confirmation of an initial payment; due as soon as one exists.",
    share: 'every',
    async isWanted({ contractId }, { ledger, party }) {
      const confirmations = await ledger.contractsByKey(`confirmations:${contractId}`)
      return confirmations.every(({ payload }) => payload['confirmer'] !== party)
    },
    command: (payment, { dsoRules, sv }) =>
      confirmResolveCommand({ dsoRules, confirmer: sv, payment }),
  }),
  // The coin goes back to its owner, also when too few super-validators were there to confirm (D-23).
  operatorJob('expire-payment', {
    doc: 'Refunds a payment, initial or renewal, that was not collected; due when its lock ends.',
    command: (payment, by) => expirePaymentCommand({ ...by, payment }),
  }),
  operatorJob('collect-renewal-payment', {
    doc: 'Collects a renewal payment and extends the entry; due as soon as the payment exists.',
    isWanted({ payload }, { ledger }) {
      const dueAt = parseTime(String(payload['thisPaymentDueAt']))
      // Paid too late: the entry has expired, expire-payment refunds it when the lock ends.
      return dueAt !== undefined && dueAt > ledger.head().recordTime
    },
    command: (payment, by) => collectRenewalCommand({ ...by, payment }),
  }),
  // The name is free from `expiresAt` on anyway (D-9).
  operatorJob('expire-entry', {
    doc: 'Archives an entry once its time is over; due at expiresAt.',
    command: (entry, by) => expireEntryCommand({ ...by, entry }),
  }),
  operatorJob('expire-subscription', {
    doc: 'Ends a subscription whose payment is overdue, with its context; due just after nextPaymentDueAt.',
    command: (idle, by) => expireSubscriptionCommand({ ...by, idle }),
  }),
  // A request that is never answered may not stay for ever (D-17).
  operatorJob('expire-request', {
    doc: 'Ends a subscription request that nobody paid, with its context; due at its expiresAt.',
    command: (request, by) => expireRequestCommand({ ...by, request }),
  }),
  // The context goes with the marker of the end, so that a user has room for new requests.
  operatorJob('terminate-subscription', {
    doc: 'Removes what an ended subscription left behind; due as soon as it ended.',
    command: (terminated, by) => terminateSubscriptionCommand({ ...by, terminated }),
  }),
  operatorJob('advance-rounds', {
    doc: 'Closes an open mining round and opens the next one; due when its time to close has come.',
    // The command closes the oldest round whichever is meant: after a standstill, when several are due,
    // each must wait for its own turn, or its command id would be used up for another one.
    async isWanted({ contractId }, { ledger }) {
      const open = await ledger.contractsByKey('rounds')
      const [oldest] = open.toSorted((a, b) => numberOf(a) - numberOf(b))
      return oldest?.contractId === contractId
    },
    command: (_round, by) => advanceRoundsCommand(by),
  }),
]

function numberOf(round: Contract): number {
  return Number((round.payload['round'] as { number: string }).number)
}
