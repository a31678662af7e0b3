export { type Commander, type CommandInput, createCommander } from './commander.ts'
export { createInFlight, type InFlight } from './in-flight.ts'
export {
  type Participant,
  rehearse,
  type SignedSubmission,
  signSubmission,
} from './submission.ts'
export { createSubmitter, type SubmitResult, type Submitter } from './submitter.ts'
