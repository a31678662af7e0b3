export { type Commander, type CommandInput, createCommander } from './commander.ts'
export { createInFlight, type InFlight } from './in-flight.ts'
export { type Rehearsed, rehearse } from './rehearse.ts'
export { type Participant, type SignedSubmission, signSubmission } from './sign.ts'
export {
  createSubmitter,
  type SubmitInput,
  type SubmitOptions,
  type SubmitResult,
  type Submitter,
} from './submitter.ts'
