// Written by scripts/generate-checks.mjs from the OpenAPI documents; do not edit.
import type { components as validator } from './validator.ts'

type Members = Readonly<Record<string, unknown>>

const isObject = (v: unknown): v is Members =>
  typeof v === 'object' && v !== null && !Array.isArray(v)

const isList = (v: unknown, is: (v: unknown) => boolean): boolean =>
  Array.isArray(v) && v.every(is)

const isText = (v: unknown, pattern: RegExp): boolean => typeof v === 'string' && pattern.test(v)

export function isActivitiesAnswer(v: unknown): v is validator['schemas']["ActivitiesAnswer"] {
  return isObject(v) && isList(v['activities'], (e0) => isActivity(e0))
}

function isActivity(v: unknown): v is validator['schemas']["Activity"] {
  return (isObject(v) && v['activity_type'] === 'transfer' && isText(v['event_id'], /^[0-9]{16}:[0-9]{4}$/u) && isText(v['date'], /^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{6}Z$/u) && typeof v['domain_id'] === 'string' && isText(v['offset'], /^(0|[1-9][0-9]*)$/u) && Number.isSafeInteger(v['round']) && Number(v['round']) >= 0 && isActivityTransfer(v['transfer']) && v['mint'] === null && v['tap'] === null && v['abort_transfer_instruction'] === null || isObject(v) && v['activity_type'] === 'mint' && isText(v['event_id'], /^[0-9]{16}:[0-9]{4}$/u) && isText(v['date'], /^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{6}Z$/u) && typeof v['domain_id'] === 'string' && isText(v['offset'], /^(0|[1-9][0-9]*)$/u) && Number.isSafeInteger(v['round']) && Number(v['round']) >= 0 && v['transfer'] === null && isActivityNewCoin(v['mint']) && v['tap'] === null && v['abort_transfer_instruction'] === null || isObject(v) && v['activity_type'] === 'devnet_tap' && isText(v['event_id'], /^[0-9]{16}:[0-9]{4}$/u) && isText(v['date'], /^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{6}Z$/u) && typeof v['domain_id'] === 'string' && isText(v['offset'], /^(0|[1-9][0-9]*)$/u) && Number.isSafeInteger(v['round']) && Number(v['round']) >= 0 && v['transfer'] === null && v['mint'] === null && isActivityNewCoin(v['tap']) && v['abort_transfer_instruction'] === null || isObject(v) && v['activity_type'] === 'abort_transfer_instruction' && isText(v['event_id'], /^[0-9]{16}:[0-9]{4}$/u) && isText(v['date'], /^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{6}Z$/u) && typeof v['domain_id'] === 'string' && isText(v['offset'], /^(0|[1-9][0-9]*)$/u) && v['round'] === null && v['transfer'] === null && v['mint'] === null && v['tap'] === null && isActivityAbort(v['abort_transfer_instruction']))
}

function isActivityAbort(v: unknown): v is validator['schemas']["ActivityAbort"] {
  return isObject(v) && isText(v['transfer_instruction_cid'], /^00[0-9a-f]{64}$/u) && (v['abort_kind'] === 'withdraw' || v['abort_kind'] === 'reject')
}

function isActivityNewCoin(v: unknown): v is validator['schemas']["ActivityNewCoin"] {
  return isObject(v) && isText(v['coin_owner'], /^[A-Za-z0-9_-]{1,185}::1220[0-9a-f]{64}$/u) && isText(v['coin_amount'], /^-?[0-9]{1,28}\.[0-9]{10}$/u)
}

function isActivityTransfer(v: unknown): v is validator['schemas']["ActivityTransfer"] {
  return isObject(v) && isObject(v['sender']) && isText(v['sender']['party'], /^[A-Za-z0-9_-]{1,185}::1220[0-9a-f]{64}$/u) && isText(v['sender']['sender_change_fee'], /^-?[0-9]{1,28}\.[0-9]{10}$/u) && isText(v['sender']['sender_change_amount'], /^-?[0-9]{1,28}\.[0-9]{10}$/u) && isText(v['sender']['sender_fee'], /^-?[0-9]{1,28}\.[0-9]{10}$/u) && isText(v['sender']['holding_fees'], /^-?[0-9]{1,28}\.[0-9]{10}$/u) && isText(v['sender']['input_coin_amount'], /^-?[0-9]{1,28}\.[0-9]{10}$/u) && isText(v['sender']['input_app_reward_amount'], /^-?[0-9]{1,28}\.[0-9]{10}$/u) && isText(v['sender']['input_validator_reward_amount'], /^-?[0-9]{1,28}\.[0-9]{10}$/u) && isText(v['sender']['input_sv_reward_amount'], /^-?[0-9]{1,28}\.[0-9]{10}$/u) && isText(v['sender']['input_validator_faucet_amount'], /^-?[0-9]{1,28}\.[0-9]{10}$/u) && isList(v['receivers'], (e0) => isObject(e0) && isText(e0['party'], /^[A-Za-z0-9_-]{1,185}::1220[0-9a-f]{64}$/u) && isText(e0['amount'], /^-?[0-9]{1,28}\.[0-9]{10}$/u) && isText(e0['receiver_fee'], /^-?[0-9]{1,28}\.[0-9]{10}$/u)) && isList(v['balance_changes'], (e0) => isObject(e0) && isText(e0['party'], /^[A-Za-z0-9_-]{1,185}::1220[0-9a-f]{64}$/u) && isText(e0['change_to_initial_amount_as_of_round_zero'], /^-?[0-9]{1,28}\.[0-9]{10}$/u) && isText(e0['change_to_holding_fees_rate'], /^-?[0-9]{1,28}\.[0-9]{10}$/u)) && (typeof v['description'] === 'string' || v['description'] === null) && (isText(v['transferInstructionReceiver'], /^[A-Za-z0-9_-]{1,185}::1220[0-9a-f]{64}$/u) || v['transferInstructionReceiver'] === null) && (isText(v['transferInstructionAmount'], /^-?[0-9]{1,28}\.[0-9]{10}$/u) || v['transferInstructionAmount'] === null) && (isText(v['transferInstructionCid'], /^00[0-9a-f]{64}$/u) || v['transferInstructionCid'] === null) && ((v['transfer_kind'] === 'create_transfer_instruction' || v['transfer_kind'] === 'transfer_instruction_accept') || v['transfer_kind'] === null)
}
