// Written by scripts/generate-checks.mjs from the OpenAPI documents; do not edit.
import type { components as validator } from './validator.ts'

type Members = Readonly<Record<string, unknown>>

const isObject = (v: unknown): v is Members =>
  typeof v === 'object' && v !== null && !Array.isArray(v)

const isList = (v: unknown, is: (v: unknown) => boolean): boolean =>
  Array.isArray(v) && v.every(is)

const isText = (v: unknown, pattern: RegExp): boolean => typeof v === 'string' && pattern.test(v)

export function isAcceptAnswer(v: unknown): v is validator['schemas']["AcceptAnswer"] {
  return isObject(v) && isText(v['initial_payment_contract_id'], /^00[0-9a-f]{64}$/u)
}

export function isAutoRenewAnswer(v: unknown): v is validator['schemas']["AutoRenewAnswer"] {
  return isObject(v) && typeof v['auto_renew'] === 'boolean'
}

function isBalanceChangeItem(v: unknown): v is validator['schemas']["BalanceChangeItem"] {
  return isObject(v) && v['transaction_type'] === 'balance_change' && isObject(v['transaction_subtype']) && typeof v['transaction_subtype']['template_id'] === 'string' && typeof v['transaction_subtype']['choice'] === 'string' && (typeof v['transaction_subtype']['coin_operation'] === 'string' || v['transaction_subtype']['coin_operation'] === null) && (typeof v['transaction_subtype']['interface_id'] === 'string' || v['transaction_subtype']['interface_id'] === null) && typeof v['event_id'] === 'string' && isText(v['date'], /^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{6}Z$/u) && isList(v['receivers'], (e0) => isPartyAndAmount(e0)) && (typeof v['transfer_instruction_cid'] === 'string' || v['transfer_instruction_cid'] === null)
}

function isCoinPosition(v: unknown): v is validator['schemas']["CoinPosition"] {
  return isObject(v) && isContractWithState(v['contract']) && Number.isSafeInteger(v['round']) && Number(v['round']) >= 0 && isText(v['accrued_holding_fee'], /^-?[0-9]{1,28}\.[0-9]{10}$/u) && isText(v['effective_amount'], /^-?[0-9]{1,28}\.[0-9]{10}$/u)
}

export function isCoinsAnswer(v: unknown): v is validator['schemas']["CoinsAnswer"] {
  return isObject(v) && isList(v['coins'], (e0) => isCoinPosition(e0)) && isList(v['locked_coins'], (e0) => isCoinPosition(e0)) && (typeof v['next_page_token'] === 'string' || v['next_page_token'] === null)
}

export function isContract(v: unknown): v is validator['schemas']["Contract"] {
  return isObject(v) && typeof v['template_id'] === 'string' && isText(v['contract_id'], /^00[0-9a-f]{64}$/u) && isObject(v['payload']) && typeof v['created_event_blob'] === 'string' && isText(v['created_at'], /^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{6}Z$/u)
}

function isContractWithState(v: unknown): v is validator['schemas']["ContractWithState"] {
  return isObject(v) && isContract(v['contract']) && typeof v['domain_id'] === 'string'
}

export function isCreateEntryAnswer(v: unknown): v is validator['schemas']["CreateEntryAnswer"] {
  return isObject(v) && isText(v['entryContextCid'], /^00[0-9a-f]{64}$/u) && isText(v['subscriptionRequestCid'], /^00[0-9a-f]{64}$/u) && typeof v['name'] === 'string' && typeof v['url'] === 'string' && typeof v['description'] === 'string'
}

export function isInitialPaymentsAnswer(v: unknown): v is validator['schemas']["InitialPaymentsAnswer"] {
  return isObject(v) && isList(v['initial_payments'], (e0) => isContract(e0))
}

function isNotificationItem(v: unknown): v is validator['schemas']["NotificationItem"] {
  return isObject(v) && v['transaction_type'] === 'notification' && isObject(v['transaction_subtype']) && typeof v['transaction_subtype']['template_id'] === 'string' && typeof v['transaction_subtype']['choice'] === 'string' && (typeof v['transaction_subtype']['coin_operation'] === 'string' || v['transaction_subtype']['coin_operation'] === null) && (typeof v['transaction_subtype']['interface_id'] === 'string' || v['transaction_subtype']['interface_id'] === null) && typeof v['event_id'] === 'string' && isText(v['date'], /^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{6}Z$/u) && typeof v['details'] === 'string'
}

export function isOwnEntriesAnswer(v: unknown): v is validator['schemas']["OwnEntriesAnswer"] {
  return isObject(v) && isList(v['entries'], (e0) => isObject(e0) && isText(e0['contractId'], /^00[0-9a-f]{64}$/u) && typeof e0['name'] === 'string' && isText(e0['amount'], /^-?[0-9]{1,28}\.[0-9]{10}$/u) && typeof e0['unit'] === 'string' && typeof e0['expiresAt'] === 'string' && typeof e0['paymentInterval'] === 'string' && typeof e0['paymentDuration'] === 'string') && (typeof v['next_page_token'] === 'string' || v['next_page_token'] === null)
}

function isPartyAndAmount(v: unknown): v is validator['schemas']["PartyAndAmount"] {
  return isObject(v) && isText(v['party'], /^[A-Za-z0-9_-]{1,185}::1220[0-9a-f]{64}$/u) && typeof v['amount'] === 'string'
}

export function isPartyIdAnswer(v: unknown): v is validator['schemas']["PartyIdAnswer"] {
  return isObject(v) && isText(v['party_id'], /^[A-Za-z0-9_-]{1,185}::1220[0-9a-f]{64}$/u)
}

export function isPayAnswer(v: unknown): v is validator['schemas']["PayAnswer"] {
  return isObject(v) && isText(v['payment_contract_id'], /^00[0-9a-f]{64}$/u)
}

export function isSubscriptionRequestsAnswer(v: unknown): v is validator['schemas']["SubscriptionRequestsAnswer"] {
  return isObject(v) && isList(v['subscription_requests'], (e0) => isContract(e0))
}

export function isSubscriptionsAnswer(v: unknown): v is validator['schemas']["SubscriptionsAnswer"] {
  return isObject(v) && isList(v['subscriptions'], (e0) => isObject(e0) && isContract(e0['subscription']) && (isObject(e0['state']) && isContract(e0['state']['idle']) || isObject(e0['state']) && isContract(e0['state']['payment'])) && typeof e0['auto_renew'] === 'boolean') && (typeof v['next_page_token'] === 'string' || v['next_page_token'] === null)
}

export function isTapAnswer(v: unknown): v is validator['schemas']["TapAnswer"] {
  return isObject(v) && isText(v['contract_id'], /^00[0-9a-f]{64}$/u) && (v['update_id'] === undefined || (typeof v['update_id'] === 'string' || v['update_id'] === null)) && (v['offset'] === undefined || (Number.isSafeInteger(v['offset']) || v['offset'] === null)) && (v['record_time'] === undefined || (typeof v['record_time'] === 'string' || v['record_time'] === null))
}

export function isTransactionsAnswer(v: unknown): v is validator['schemas']["TransactionsAnswer"] {
  return isObject(v) && isList(v['items'], (e0) => (isTransferItem(e0) || isBalanceChangeItem(e0) || isNotificationItem(e0)))
}

export function isTransferAnswer(v: unknown): v is validator['schemas']["TransferAnswer"] {
  return isObject(v) && (isObject(v['output']) && isText(v['output']['transfer_instruction_cid'], /^00[0-9a-f]{64}$/u) || isObject(v['output']) && isList(v['output']['receiver_holding_cids'], (e0) => isText(e0, /^00[0-9a-f]{64}$/u)) || isObject(v['output'])) && isList(v['sender_change_cids'], (e0) => isText(e0, /^00[0-9a-f]{64}$/u)) && isObject(v['meta'])
}

function isTransferItem(v: unknown): v is validator['schemas']["TransferItem"] {
  return isObject(v) && v['transaction_type'] === 'transfer' && isObject(v['transaction_subtype']) && typeof v['transaction_subtype']['template_id'] === 'string' && typeof v['transaction_subtype']['choice'] === 'string' && (typeof v['transaction_subtype']['coin_operation'] === 'string' || v['transaction_subtype']['coin_operation'] === null) && (typeof v['transaction_subtype']['interface_id'] === 'string' || v['transaction_subtype']['interface_id'] === null) && typeof v['event_id'] === 'string' && isText(v['date'], /^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{6}Z$/u) && isPartyAndAmount(v['sender']) && isList(v['receivers'], (e0) => isPartyAndAmount(e0)) && isText(v['holding_fees'], /^-?[0-9]{1,28}\.[0-9]{10}$/u) && isText(v['app_rewards_used'], /^-?[0-9]{1,28}\.[0-9]{10}$/u) && isText(v['validator_rewards_used'], /^-?[0-9]{1,28}\.[0-9]{10}$/u) && isText(v['sv_rewards_used'], /^-?[0-9]{1,28}\.[0-9]{10}$/u) && isText(v['development_fund_coupons_used'], /^-?[0-9]{1,28}\.[0-9]{10}$/u) && (typeof v['transfer_instruction_receiver'] === 'string' || v['transfer_instruction_receiver'] === null) && (typeof v['transfer_instruction_amount'] === 'string' || v['transfer_instruction_amount'] === null) && (typeof v['transfer_instruction_cid'] === 'string' || v['transfer_instruction_cid'] === null) && (typeof v['description'] === 'string' || v['description'] === null)
}

export function isTransfersAnswer(v: unknown): v is validator['schemas']["TransfersAnswer"] {
  return isObject(v) && isList(v['transfers'], (e0) => isContract(e0)) && (typeof v['next_page_token'] === 'string' || v['next_page_token'] === null)
}

export function isUserStatusAnswer(v: unknown): v is validator['schemas']["UserStatusAnswer"] {
  return isObject(v) && typeof v['party_id'] === 'string' && typeof v['user_onboarded'] === 'boolean' && typeof v['user_wallet_installed'] === 'boolean' && typeof v['has_featured_app_right'] === 'boolean'
}
