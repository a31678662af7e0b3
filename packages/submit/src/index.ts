export { createInFlight, type InFlight } from './in-flight.ts'
export {
  dryRun,
  type Participant,
  type SignedSubmission,
  signSubmission,
  submissionBody,
} from './submission.ts'
export * from './submitter.ts'
