export { createInFlight, type InFlight } from './in-flight.ts'
export {
  type Participant,
  rehearse,
  type SignedSubmission,
  signSubmission,
} from './submission.ts'
export {
  type Commander,
  type CommandInput,
  createCommander,
  createSubmitter,
  type SubmitResult,
  type Submitter,
} from './submitter.ts'
