/** What the agent of a process replies, by path. A process may be broken: the control plane checks every reply. */
import type { JobCounts, JobFailure } from '@quorumscan/jobs'
import { z } from 'zod'

const count = z.number().int().min(0)
const jobCounts: z.ZodType<JobCounts> = z.object({ waiting: count, delayed: count, active: count })
const jobFailure = z.object({
  job: z.string(),
  contractId: z.string(),
  code: z.string(),
  message: z.string(),
  attempts: count,
  at: z.number(),
}) satisfies z.ZodType<Omit<JobFailure, 'contractId'> & { contractId: string }>

export const agentReplies = {
  '/faults': z.null(),
  '/engine/restart': z.null(),
  '/jobs': z.object({
    queues: z.record(z.string(), jobCounts),
    failures: z.array(jobFailure).readonly(),
  }),
  /** False: it has no such queue. */
  '/jobs/retry': z.boolean(),
  '/prune': z.object({ horizon: z.number().int().min(0) }),
} as const

export type AgentPath = keyof typeof agentReplies
export type AgentReply<Path extends AgentPath> = z.output<(typeof agentReplies)[Path]>
