/** What the scan proxy offers over WebSocket, public as its routes are (D-26, D-32). */
import { type ActivitiesStreamRequest, socketRoutes } from '@quorumscan/api'
import type { ApiSocket } from '@quorumscan/http'
import type { Context } from '../context.ts'
import { createActivityPages } from './activity-pages.ts'
import { activityStream } from './activity-stream.ts'

export function scanProxySockets(
  context: Pick<Context, 'reader' | 'genesis' | 'genesisHash' | 'reads' | 'clock'>,
): readonly ApiSocket[] {
  const { feed } = context.reads.updates
  const deps = { pages: createActivityPages(context), feed, clock: context.clock }
  return [
    {
      ...socketRoutes.streamActivities,
      async open({ request, requestId, charge, signal }) {
        const asked = request as ActivitiesStreamRequest
        const question = {
          pageSize: asked.page_size,
          after: asked.begin_after_id || null,
          quorum: asked.quorum ?? 'weak',
          minOffset: asked.min_offset ?? 0,
          maxAgeMs: asked.max_age_ms ?? null,
        }
        return activityStream(deps, question, { requestId, charge, signal })
      },
    },
  ]
}
