export { createInFlight, type InFlight } from './in-flight.ts'
export {
  dryRun,
  type Participant,
  type SignedSubmission,
  signSubmission,
} from './submission.ts'
export * from './submitter.ts'
