/** What the scan proxy offers over WebSocket, public as its routes are (D-26, D-32). */
import { socketRoutes } from '@quorumscan/api'
import type { ApiSocket } from '@quorumscan/http'
import type { Context } from '../context.ts'
import { activityStream } from './activity-stream.ts'

export function scanProxySockets(context: Pick<Context, 'reads' | 'clock'>): readonly ApiSocket[] {
  const deps = { feed: context.reads.updates.feed, clock: context.clock }
  return [{ ...socketRoutes.streamActivities, open: async (asker) => activityStream(deps, asker) }]
}
