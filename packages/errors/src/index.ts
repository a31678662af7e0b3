export { catalogue, type ErrorCode, type ErrorSpec } from './catalogue.ts'
export { type ErrorBody, isScanError, ScanError, toErrorBody } from './scan-error.ts'
