/**
 * What a transaction means for the own history of a party beyond its activities (D-20): coin that came back
 * from a payment, an offer or a lock, and subscriptions that ran out. No coin changes its owner there, so the
 * activity history has no rows of them (D-24).
 *
 * Spec silent on which: those of upstream's wallet, and the expiry of an offer, which is as much its end as
 * rejection and withdrawal are.
 */
import { assert } from '@quorumscan/base'
import type { CreatedEvent, ExercisedEvent, LedgerEvent, PartyId } from '@quorumscan/model'
import { formatInstant as formatTime } from '@quorumscan/verifier'
import type { AppliedResult } from './activities.ts'
import { enclosing, formatNoticeId, type HistoryStep, isHistoryStep } from './history-rows.ts'
import { templateIdOf } from './registry.ts'
import { coin } from './templates/coin.ts'
import { terminatedSubscription } from './templates/terminated-subscription.ts'

/** One row of a party's own history that is no activity. */
export type Notice = {
  readonly event_id: string
  readonly date: string
  /** The coin that its owner has again, and how much it is; null where none is meant. */
  readonly returned: { readonly coin_owner: string; readonly coin_amount: string } | null
  readonly transfer_instruction_cid: string | null
  /** What ran out, in words of the contract; null where coin came back. */
  readonly details: string | null
}

/** As an `ActivityRow`. */
export type NoticeRow = {
  readonly activity: Notice
  readonly parties: readonly PartyId[]
  readonly step: HistoryStep
}

type Said = Pick<Notice, 'returned' | 'transfer_instruction_cid' | 'details'>
const SILENT: Said = { returned: null, transfer_instruction_cid: null, details: null }

/** The notices of one applied entry, in order of its events. */
export function noticeRowsOf(entry: AppliedResult): readonly NoticeRow[] {
  if (entry.result.kind !== 'accepted') return []
  const { events } = entry.result.update
  const rows: NoticeRow[] = []
  for (const event of events) {
    if (event.kind !== 'exercised' || !isHistoryStep(event.choice)) continue
    const said = saidOf(event, events)
    if (said === null) continue
    const { parties, ...notice } = said
    const event_id = formatNoticeId(entry.offset, rows.length)
    const activity = { event_id, date: formatTime(entry.recordTime), ...notice }
    rows.push({ activity, parties, step: event.choice })
  }
  return rows
}

function saidOf(
  event: ExercisedEvent,
  events: readonly LedgerEvent[],
): (Said & { readonly parties: readonly PartyId[] }) | null {
  switch (event.choice) {
    case 'LockedCoin_Unlock':
      // Within another choice it is a part of what that one is.
      return enclosing(event, events).length === 0 ? returnOf(event, events) : null
    case 'SubscriptionInitialPayment_Reject':
    case 'SubscriptionInitialPayment_Expire':
    case 'SubscriptionPayment_Reject':
    case 'SubscriptionPayment_Expire':
    case 'LockedCoin_OwnerExpireLock':
      return returnOf(event, events)
    case 'TransferInstruction_Expire':
      return {
        ...SILENT,
        transfer_instruction_cid: event.contractId,
        parties: [...event.signatories, ...event.observers],
      }
    case 'SubscriptionIdleState_ExpireSubscription': {
      const ended = createdWithin(event, events, templateIdOf(terminatedSubscription))
      const { sender, description } = ended.payload['subscriptionData'] as {
        sender: string
        description: string
      }
      return { ...SILENT, details: description, parties: [sender] }
    }
    default:
      return null
  }
}

function returnOf(event: ExercisedEvent, events: readonly LedgerEvent[]) {
  const { payload } = createdWithin(event, events, templateIdOf(coin))
  const { owner, amount } = payload as { owner: string; amount: { initialAmount: string } }
  const returned = { coin_owner: owner, coin_amount: amount.initialAmount }
  return { ...SILENT, returned, parties: [owner] }
}

function createdWithin(
  { nodeId, lastDescendantNodeId }: ExercisedEvent,
  events: readonly LedgerEvent[],
  templateId: string,
): CreatedEvent {
  const found = events.find(
    (event): event is CreatedEvent =>
      event.kind === 'created' &&
      event.templateId === templateId &&
      nodeId < event.nodeId &&
      event.nodeId <= lastDescendantNodeId,
  )
  assert(found !== undefined, 'each of these choices creates what it returns or ends in')
  return found
}
