/** What the scan proxy offers over WebSocket, public as its routes are (D-26, D-32). */
import { socketRoutes } from '@quorumscan/api'
import type { ApiSocket } from '@quorumscan/server'
import { type ActivityStreamDeps, activityStream } from './activity-stream.ts'

export function scanProxySockets(deps: ActivityStreamDeps): readonly ApiSocket[] {
  return [{ ...socketRoutes.streamActivities, open: async (asker) => activityStream(deps, asker) }]
}
