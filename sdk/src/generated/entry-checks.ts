// Written by scripts/generate-checks.mjs from the OpenAPI documents; do not edit.
import type { components as validator } from './validator.ts'

type Members = Readonly<Record<string, unknown>>

const isObject = (v: unknown): v is Members =>
  typeof v === 'object' && v !== null && !Array.isArray(v)

const isList = (v: unknown, is: (v: unknown) => boolean): boolean =>
  Array.isArray(v) && v.every(is)

const isText = (v: unknown, pattern: RegExp): boolean => typeof v === 'string' && pattern.test(v)

function isAnsEntry(v: unknown): v is validator['schemas']["AnsEntry"] {
  return isObject(v) && (isText(v['contract_id'], /^00[0-9a-f]{64}$/u) || v['contract_id'] === null) && isText(v['user'], /^[A-Za-z0-9_-]{1,185}::1220[0-9a-f]{64}$/u) && typeof v['name'] === 'string' && typeof v['url'] === 'string' && typeof v['description'] === 'string' && (isText(v['expires_at'], /^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{6}Z$/u) || v['expires_at'] === null)
}

export function isEntryPage(v: unknown): v is validator['schemas']["EntryPage"] {
  return isObject(v) && isList(v['entries'], (e0) => isAnsEntry(e0)) && (typeof v['next_page_token'] === 'string' || v['next_page_token'] === null)
}
