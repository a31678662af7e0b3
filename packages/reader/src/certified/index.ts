/** The reader of certified answers: what the SDK reads with. */
export { CERTIFIED_DECISIONS, type CertifiedDecisions } from './decisions.ts'
export {
  type CertifiedAnswer,
  type CertifiedOutcome,
  type CertifiedReceipt,
  type Expired,
  kindOf,
  type Unproven,
} from './outcome.ts'
export {
  type CertifiedNodeStatus,
  type CertifiedReader,
  type CertifiedReaderOptions,
  type CertifiedReaderStatus,
  type CertifiedReadOptions,
  createCertifiedReader,
} from './reader.ts'
export {
  type CertifiedRequest,
  requestOfActivitiesPage,
  requestOfEntriesPage,
  requestOfLookups,
} from './requests.ts'
