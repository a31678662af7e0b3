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

/** The length of a client's text in an error sentence. */
const QUOTED_LENGTH_MAX = 80

export function quoted(text: string): string {
  const isLong = text.length > QUOTED_LENGTH_MAX
  return JSON.stringify(isLong ? `${text.slice(0, QUOTED_LENGTH_MAX)}…` : text)
}

export function invalidArgument(message: string): LedgerError {
  return new LedgerError('INVALID_ARGUMENT', message)
}

export function denied(reason: string): LedgerError {
  return new LedgerError('PERMISSION_DENIED', reason)
}

export function missingField(field: string): LedgerError {
  const message = `The submitted request is missing the field ${field}.`
  return new LedgerError('MISSING_FIELD', message, { context: { field_name: field } })
}

export function invalidField(field: string, problem: string): LedgerError {
  const message = `The field ${field} is invalid: ${problem}.`
  return new LedgerError('INVALID_FIELD', message, { context: { field_name: field } })
}

/** A field that may be empty. @throws {LedgerError} INVALID_FIELD. */
export function optionalLedgerString(text: string, field: string): string {
  return text === '' ? '' : requiredLedgerString(text, field)
}

/** Fields that may not be empty. @throws {LedgerError} MISSING_FIELD or INVALID_FIELD. */
const required =
  (type: string, isValid: (text: string) => boolean) => (text: string, field: string) => {
    if (text === '') throw missingField(field)
    if (!isValid(text)) throw invalidField(field, `${quoted(text)} is no ${type}`)
    return text
  }
export const requiredLedgerString = required('LedgerString', isLedgerString)
export const requiredUserId = required('UserId', isUserId)
export const requiredContractId = required('ContractId', (text) => CONTRACT_ID.test(text))

/** '' for none. @throws {LedgerError} INVALID_FIELD. */
export function optionalSynchronizerId(text: string, field: string): string {
  if (text === '' || SYNCHRONIZER_ID.test(text)) return text
  const problem = text.includes('::') ? 'is not a synchronizer id' : 'has no namespace'
  throw invalidField(field, `${quoted(text)} ${problem}`)
}
