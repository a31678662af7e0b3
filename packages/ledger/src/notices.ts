/**
 * Notices: the rows of a party's own history that are no activities (D-20). They report coin that a payment, a transfer
 * offer or a lock returned, and subscriptions that expired. No coin changes its owner there, so the activity history has
 * no such rows (D-24).
 *
 * The specification does not list them. They are those of upstream's wallet, and the expiry of a transfer offer, which
 * ends it as rejection and withdrawal do.
 */
import { assert } from '@quorumscan/base'
import type { CreatedEvent, ExercisedEvent, LedgerEvent, PartyId } from '@quorumscan/model'
import { formatInstant } from '@quorumscan/verifier'
import type { AppliedResult } from './activities.ts'
import { enclosing, formatNoticeId, type HistoryStep, isHistoryStep } from './history-rows.ts'
import { isOf, type Template } from './template.ts'
import { coin } from './templates/coin.ts'
import { terminatedSubscription } from './templates/terminated-subscription.ts'

/** One notice. */
export type Notice = {
  readonly event_id: string
  readonly date: string
  /** The returned coin with its owner; null if the notice is not about returned coin. */
  readonly returned: { readonly coin_owner: string; readonly coin_amount: string } | null
  readonly transfer_instruction_cid: string | null
  /** The description of the expired subscription; null for other notices. */
  readonly details: string | null
}

/** A notice with the parties whose history it belongs to, and the step that caused it, as an `ActivityRow`. */
export type NoticeRow = {
  readonly activity: Notice
  readonly parties: readonly PartyId[]
  readonly step: HistoryStep
}

type NoticeContent = Pick<Notice, 'returned' | 'transfer_instruction_cid' | 'details'>
const NO_CONTENT: NoticeContent = { returned: null, transfer_instruction_cid: null, details: null }

/** The notices of one applied entry, in order of its events. */
export function noticeRowsOf(entry: AppliedResult): readonly NoticeRow[] {
  if (entry.result.kind !== 'accepted') return []
  const { events } = entry.result.update
  const rows: NoticeRow[] = []
  for (const event of events) {
    if (event.kind !== 'exercised' || !isHistoryStep(event.choice)) continue
    const content = contentOf(event, events)
    if (content === null) continue
    const { parties, ...notice } = content
    const event_id = formatNoticeId(entry.offset, rows.length)
    const activity = { event_id, date: formatInstant(entry.recordTime), ...notice }
    rows.push({ activity, parties, step: event.choice })
  }
  return rows
}

function contentOf(event: ExercisedEvent, events: readonly LedgerEvent[]) {
  switch (event.choice) {
    case 'LockedCoin_Unlock':
      // Within another choice, the notice of that choice reports it.
      return enclosing(event, events).length === 0 ? returnOf(event, events) : null
    case 'SubscriptionInitialPayment_Reject':
    case 'SubscriptionInitialPayment_Expire':
    case 'SubscriptionPayment_Reject':
    case 'SubscriptionPayment_Expire':
    case 'LockedCoin_OwnerExpireLock':
      return returnOf(event, events)
    case 'TransferInstruction_Expire':
      return {
        ...NO_CONTENT,
        transfer_instruction_cid: event.contractId,
        parties: [...event.signatories, ...event.observers],
      }
    case 'SubscriptionIdleState_ExpireSubscription': {
      const ended = createdWithin(event, events, terminatedSubscription)
      const { sender, description } = ended.payload['subscriptionData'] as {
        sender: string
        description: string
      }
      return { ...NO_CONTENT, details: description, parties: [sender] }
    }
    default:
      return null
  }
}

function returnOf(event: ExercisedEvent, events: readonly LedgerEvent[]) {
  const { payload } = createdWithin(event, events, coin)
  const { owner, amount } = payload as { owner: string; amount: { initialAmount: string } }
  const returned = { coin_owner: owner, coin_amount: amount.initialAmount }
  return { ...NO_CONTENT, returned, parties: [owner] }
}

function createdWithin(
  { nodeId, lastDescendantNodeId }: ExercisedEvent,
  events: readonly LedgerEvent[],
  template: Template<unknown>,
): CreatedEvent {
  const found = events.find(
    (event): event is CreatedEvent =>
      event.kind === 'created' &&
      isOf(template, event) &&
      nodeId < event.nodeId &&
      event.nodeId <= lastDescendantNodeId,
  )
  assert(found !== undefined, 'each of these choices creates the contract')
  return found
}
