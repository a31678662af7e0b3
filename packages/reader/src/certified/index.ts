/** The reader of certified answers: what the SDK reads with. */
export {
  type CertifiedAnswer,
  type CertifiedOutcome,
  type CertifiedReceipt,
  kindOf,
  type OffsetPruned,
  type Unproven,
} from './certified-outcome.ts'
export * from './certified-reader.ts'
export { type CertifiedQuery, requestOfLookups } from './node-request.ts'
export { requestOfActivitiesPage, requestOfEntriesPage } from './page-requests.ts'
