/**
 * Code that a lookup with an answer does not need: repeats, error messages, and changes of owner; and what belongs to
 * options that few clients have. Clients load it on demand.
 */
export { parseGenesis } from '@quorumscan/verifier'
export { checkGenesis } from './checked-genesis.ts'
export { createTracing } from './http/traced-fetch.ts'
export { retryLookups } from './names/asking.ts'
export { nameChanges, requireAccepted, seenNamesFull } from './names/name-changes.ts'
export { nameExpired, nameMismatch, outcomeError, ownError } from './names/outcome-error.ts'
export { parseName, refusalOfName } from './names/parse-name.ts'
export { createNodePort } from './platform/node-port.ts'
export { announceAccepted } from './platform/page-events.ts'
export { checkTrust } from './platform/trust.ts'
