/** The jobs of every super-validator. A new kind of work is one row here. */
import { assert } from '@quorumscan/base'
import {
  advanceRoundsCommand,
  collectRenewalCommand,
  confirmResolveCommand,
  expireEntryCommand,
  expirePaymentCommand,
  expireRequestCommand,
  expireSubscriptionCommand,
  openMiningRound,
  payloadOf,
  terminateSubscriptionCommand,
} from '@quorumscan/ledger'
import {
  type Command,
  type Contract,
  type ContractId,
  type PartyId,
  parseTime,
} from '@quorumscan/model'
import { type JobDefinition, type OperatorDeps, submittingJob } from './job.ts'
import { rewardJobs } from './reward-jobs.ts'

/** The rules that each command of a super-validator exercises, and its party. */
type BySuperValidator = { readonly dsoRules: ContractId; readonly sv: PartyId }

/** Submits one command for a contract, unless `isWanted` sees that there is nothing to do. */
function operatorJob(
  name: string,
  row: Pick<JobDefinition<OperatorDeps>, 'runsOn'> & {
    isWanted?(contract: Contract, deps: OperatorDeps): boolean | Promise<boolean>
    command(contractId: ContractId, by: BySuperValidator): Command
  },
): JobDefinition<OperatorDeps> {
  const { isWanted = () => true } = row
  return submittingJob({
    ...row,
    name,
    async commandFor(contract, deps) {
      if (!(await isWanted(contract, deps))) return null
      // It exists from genesis on (D-29).
      const [rules] = await deps.ledger.contractsByKey('singleton:DsoRules', { limit: 1 })
      assert(rules !== undefined, 'the ledger has no DsoRules')
      const { party } = deps
      const by = { dsoRules: rules.contractId, sv: party }
      return { party, command: row.command(contract.contractId, by) }
    },
  })
}

export const operatorJobs: readonly JobDefinition<OperatorDeps>[] = [
  ...rewardJobs,
  // Submits this super-validator's confirmation of an initial payment; due as soon as one exists.
  // Confirms "resolve payment P", once. Interpretation decides whether to collect or to refund when
  // the q-th confirmation arrives (D-23).
  operatorJob('resolve-initial-payment', {
    runsOn: 'every-member',
    async isWanted({ contractId }, { ledger, party }) {
      const confirmations = await ledger.contractsByKey(`confirmations:${contractId}`)
      return confirmations.every(({ payload }) => payload['confirmer'] !== party)
    },
    command: (payment, { dsoRules, sv }) =>
      confirmResolveCommand({ dsoRules, confirmer: sv, payment }),
  }),
  // Refunds a payment, initial or renewal, that was not collected; due when its lock ends.
  // The coin goes back to its owner, also when too few super-validators could confirm (D-23).
  operatorJob('expire-payment', {
    command: (payment, by) => expirePaymentCommand({ ...by, payment }),
  }),
  // Collects a renewal payment and extends the entry; due as soon as the payment exists.
  operatorJob('collect-renewal-payment', {
    isWanted({ payload }, { ledger }) {
      const dueAt = parseTime(String(payload['thisPaymentDueAt']))
      // Paid too late: the entry has expired, expire-payment refunds it when the lock ends.
      return dueAt !== undefined && dueAt > ledger.head().recordTime
    },
    command: (payment, by) => collectRenewalCommand({ ...by, payment }),
  }),
  // Archives an entry once its time is over; due at expiresAt.
  // The name is free from `expiresAt` on anyway (D-9).
  operatorJob('expire-entry', { command: (entry, by) => expireEntryCommand({ ...by, entry }) }),
  // Ends a subscription whose payment is overdue, with its context; due just after nextPaymentDueAt.
  operatorJob('expire-subscription', {
    command: (idle, by) => expireSubscriptionCommand({ ...by, idle }),
  }),
  // Ends a subscription request that was not paid, with its context; due at its expiresAt.
  // A request that is never answered may not stay for ever (D-17).
  operatorJob('expire-request', {
    command: (request, by) => expireRequestCommand({ ...by, request }),
  }),
  // Removes the contracts of an ended subscription; due as soon as it ended.
  // The context goes with the marker of the end, so that a user has room for new requests.
  operatorJob('terminate-subscription', {
    command: (terminated, by) => terminateSubscriptionCommand({ ...by, terminated }),
  }),
  // Closes an open mining round and opens the next one; due when its time to close has come.
  operatorJob('advance-rounds', {
    // The command closes the oldest round, for any contract: after an outage, when several are due,
    // each must wait until its round is the oldest, or its command id would be used up for another one.
    async isWanted({ contractId }, { ledger }) {
      const open = await ledger.contractsByKey('rounds')
      const [oldest] = open.toSorted((a, b) => roundNumber(a) - roundNumber(b))
      return oldest?.contractId === contractId
    },
    command: (_round, by) => advanceRoundsCommand(by),
  }),
]

const roundNumber = (contract: Contract) => payloadOf(openMiningRound, contract).round.number
