/** What the agent of a process replies, by path. A process may be broken: the control plane checks every reply. */
import { z } from 'zod'

export const agentReplies = {
  '/faults': z.null(),
  '/engine/restart': z.null(),
  '/prune': z.object({ horizon: z.number().int().min(0) }),
} as const

export type AgentPath = keyof typeof agentReplies
export type AgentReply<Path extends AgentPath> = z.output<(typeof agentReplies)[Path]>
