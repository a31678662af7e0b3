/** Moving the horizon of a node, by its operator, over the socket of its process. */
import type { Replica } from '@quorumscan/replica'
import { CommandError } from '@quorumscan/runtime'
import { z } from 'zod'
import type { AgentHandlers } from './agent.ts'

/** Below the wait of whoever asks the agent. */
const PRUNE_MS_MAX = 2_000

const pruned = z.object({ to: z.number().int().min(1) })

export function pruneHandlers(replica: Pick<Replica, 'head' | 'raiseHorizon'>): AgentHandlers {
  return {
    '/prune': async (body) => {
      const { to } = pruned.parse(body)
      const { offset } = replica.head()
      if (to > offset) throw new CommandError(`the node has reached offset ${offset}, not ${to}`)
      return { horizon: await replica.raiseHorizon(to, AbortSignal.timeout(PRUNE_MS_MAX)) }
    },
  }
}
