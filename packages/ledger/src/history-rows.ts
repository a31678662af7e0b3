/** The ids of the rows of activities and notices, and the steps that cause the rows. */
import type { ExercisedEvent, LedgerEvent, Offset } from '@quorumscan/model'

/** Digits of the two parts of an event id; a transaction has at most 1 000 events (Rule 1). */
const OFFSET_DIGITS = 16
const INDEX_DIGITS = 4
/** A transaction has fewer activities than this, as each is an event. Notices are counted from here on. */
const NOTICE_INDEX_FIRST = 1_000

/**
 * The choices that rows of a party's history name, as in upstream's wallet. Replicas store the index in this list:
 * append only.
 */
export const HISTORY_STEPS = [
  'CoinRules_Transfer',
  'CoinRules_DevNet_Tap',
  'CoinRules_Mint',
  'CoinRules_CreateTransferInstruction',
  'TransferInstruction_Accept',
  'TransferInstruction_Reject',
  'TransferInstruction_Withdraw',
  'TransferInstruction_Expire',
  'SubscriptionRequest_AcceptAndMakePayment',
  'SubscriptionIdleState_MakePayment',
  'AnsRules_CollectInitialEntryPayment',
  'AnsRules_CollectEntryRenewalPayment',
  'SubscriptionInitialPayment_Reject',
  'SubscriptionInitialPayment_Expire',
  'SubscriptionPayment_Reject',
  'SubscriptionPayment_Expire',
  'SubscriptionIdleState_ExpireSubscription',
  'LockedCoin_Unlock',
  'LockedCoin_OwnerExpireLock',
] as const
export type HistoryStep = (typeof HISTORY_STEPS)[number]

export function isHistoryStep(choice: string): choice is HistoryStep {
  return (HISTORY_STEPS as readonly string[]).includes(choice)
}

/** D-25. */
export function formatEventId(offset: Offset, index: number): string {
  return `${String(offset).padStart(OFFSET_DIGITS, '0')}:${String(index).padStart(INDEX_DIGITS, '0')}`
}

/** The id of a notice, which sorts after all activities of the same transaction. */
export function formatNoticeId(offset: Offset, index: number): string {
  return formatEventId(offset, NOTICE_INDEX_FIRST + index)
}

/** Whether an event id is that of a notice, not of an activity. */
export function isNoticeId(eventId: string): boolean {
  return Number(eventId.slice(OFFSET_DIGITS + 1)) >= NOTICE_INDEX_FIRST
}

/** The exercises that an event is part of, outermost first. */
export function enclosing(event: LedgerEvent, events: readonly LedgerEvent[]) {
  return events.filter(
    (other): other is ExercisedEvent =>
      other.kind === 'exercised' &&
      other.nodeId < event.nodeId &&
      event.nodeId <= other.lastDescendantNodeId,
  )
}
