export { createInFlight, type InFlight } from './in-flight.ts'
export {
  dryRun,
  type Participant,
  type SignedSubmission,
  signSubmission,
} from './submission.ts'
export {
  type CheckedSubmitter,
  type CommandInput,
  createCheckedSubmitter,
  createSubmitter,
  type SubmitResult,
  type Submitter,
} from './submitter.ts'
