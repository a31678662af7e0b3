/** What the scan proxy offers over WebSocket, public as its routes are (D-26, D-32). */
import { type Openers, socketRoutes } from '@quorumscan/api'
import type { ApiSocket } from '@quorumscan/server'
import { type ActivityStreamDeps, activityStream } from './activity-stream.ts'

export function scanProxySockets(deps: ActivityStreamDeps): readonly ApiSocket[] {
  const openers: Openers<'/v0/', ApiSocket['open']> = {
    streamActivities: async (asker) => activityStream(deps, asker),
  }
  return Object.entries(openers).map(([id, open]) => ({
    ...socketRoutes[id as keyof typeof openers],
    open,
  }))
}
