// Written by scripts/generate-checks.mjs from the OpenAPI documents; do not edit.
import type { components as validator } from './validator.ts'

type Members = Readonly<Record<string, unknown>>

const isObject = (v: unknown): v is Members =>
  typeof v === 'object' && v !== null && !Array.isArray(v)

const isText = (v: unknown, pattern: RegExp): boolean => typeof v === 'string' && pattern.test(v)

export function isBalanceAnswer(v: unknown): v is validator['schemas']["BalanceAnswer"] {
  return isObject(v) && Number.isSafeInteger(v['round']) && Number(v['round']) >= 0 && isText(v['effective_unlocked_qty'], /^-?[0-9]{1,28}\.[0-9]{10}$/u) && isText(v['effective_locked_qty'], /^-?[0-9]{1,28}\.[0-9]{10}$/u) && isText(v['total_holding_fees'], /^-?[0-9]{1,28}\.[0-9]{10}$/u)
}
