export type { JobFailure } from './failures.ts'
export type {
  JobDefinition,
  JobLog,
  JobRun,
  OperatorDeps,
  SubmitPort,
  WalletDeps,
} from './job.ts'
export { measureJobs, measureQueues } from './job-metrics.ts'
export { type JobCounts, Jobs, type JobsOptions } from './jobs.ts'
export { operatorJobs } from './operator-jobs.ts'
export type { Member } from './queue.ts'
export { walletJobs } from './wallet-jobs.ts'
