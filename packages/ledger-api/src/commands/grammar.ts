/** Identifiers as the ledger interface reads them (docs/upstream.md §L4.8). */
import {
  LEDGER_CONTRACT_ID_PATTERN,
  LEDGER_PARTY_PATTERN,
  LEDGER_STRING_PATTERN,
  PACKAGE_ID_PATTERN,
  SYNCHRONIZER_ID_PATTERN,
} from '@quorumscan/api'
import { LedgerError } from '@quorumscan/errors'
import { isUserId } from '@quorumscan/model'

const LEDGER_STRING = new RegExp(LEDGER_STRING_PATTERN)
const PARTY = new RegExp(LEDGER_PARTY_PATTERN)
const PACKAGE_ID = new RegExp(PACKAGE_ID_PATTERN)
const PACKAGE_NAME = /^[A-Za-z0-9\-_]{1,255}$/
const SYNCHRONIZER_ID = new RegExp(SYNCHRONIZER_ID_PATTERN)
const CONTRACT_ID = new RegExp(LEDGER_CONTRACT_ID_PATTERN)

export const isLedgerString = (text: string): boolean => LEDGER_STRING.test(text)
export const isPartyString = (text: string): boolean => PARTY.test(text)
export const isPackageId = (text: string): boolean => PACKAGE_ID.test(text)
export const isPackageName = (text: string): boolean => PACKAGE_NAME.test(text)

/** Texts of clients are shown, but not at any length. */
const SHOWN_LENGTH_MAX = 80

export function shown(text: string): string {
  return JSON.stringify(
    text.length <= SHOWN_LENGTH_MAX ? text : `${text.slice(0, SHOWN_LENGTH_MAX)}…`,
  )
}

export function invalidArgument(message: string): LedgerError {
  return new LedgerError('INVALID_ARGUMENT', message)
}

export function missingField(field: string): LedgerError {
  return new LedgerError('MISSING_FIELD', `The submitted request is missing the field ${field}.`, {
    context: { field_name: field },
  })
}

export function invalidField(field: string, problem: string): LedgerError {
  return new LedgerError('INVALID_FIELD', `The field ${field} is invalid: ${problem}.`, {
    context: { field_name: field },
  })
}

/** A field that may be empty. @throws {LedgerError} INVALID_FIELD. */
export function optionalLedgerString(text: string, field: string): string {
  if (text !== '' && !isLedgerString(text))
    throw invalidField(field, `${shown(text)} is no LedgerString`)
  return text
}

/** @throws {LedgerError} MISSING_FIELD or INVALID_FIELD. */
export function requiredLedgerString(text: string, field: string): string {
  if (text === '') throw missingField(field)
  return optionalLedgerString(text, field)
}

/** @throws {LedgerError} MISSING_FIELD or INVALID_FIELD. */
export function requiredUserId(text: string, field: string): string {
  if (text === '') throw missingField(field)
  if (!isUserId(text)) throw invalidField(field, `${shown(text)} is no UserId`)
  return text
}

/** @throws {LedgerError} MISSING_FIELD or INVALID_FIELD. */
export function requiredContractId(text: string, field: string): string {
  if (text === '') throw missingField(field)
  if (!CONTRACT_ID.test(text)) throw invalidField(field, `${shown(text)} is no ContractId`)
  return text
}

/** '' for none. @throws {LedgerError} INVALID_FIELD. */
export function optionalSynchronizerId(text: string, field: string): string {
  if (text === '' || SYNCHRONIZER_ID.test(text)) return text
  const problem = text.includes('::') ? 'is no synchronizer id' : 'has no namespace'
  throw invalidField(field, `${shown(text)} ${problem}`)
}
