export { catalogue, type ErrorCode, type ErrorSpec } from './catalogue.ts'
export { type LedgerErrorCode, ledgerCatalogue, ledgerErrorSpec } from './ledger-catalogue.ts'
export * from './ledger-error.ts'
export { isScanError, ScanError, toErrorBody } from './scan-error.ts'
