export { createGrowthShares, type GrowthShares } from './growth-shares.ts'
export { createInFlight, type InFlight } from './in-flight.ts'
export {
  dryRun,
  type Participant,
  prepareSubmission,
  type SignedSubmission,
  signSubmission,
  submissionBody,
} from './submission.ts'
export * from './submitter.ts'
