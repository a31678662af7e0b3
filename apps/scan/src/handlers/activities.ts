/** The activity history (D-24, D-25). Rows come ready from the replica and are only put together here. */
import type { scanRoutes } from '@quorumscan/api'
import { utf8 } from '@quorumscan/base'
import type { Handlers } from '@quorumscan/http'
import { commaSeparated, pinnedHeaders, type Reads } from '../pinned.ts'

export function createActivityHandlers(context: {
  readonly reads: Reads
}): Pick<Handlers<typeof scanRoutes>, 'listActivities'> {
  const { reads } = context
  return {
    async listActivities({ body, headers, signal }) {
      const at = await reads.pin(headers['x-read-at-offset'] ?? null, signal)
      const rows = await reads.activities({
        offset: at.offset,
        // An empty id stands for none, as upstream.
        after: body.begin_after_id || null,
        limit: body.page_size,
        order: body.sort_order ?? 'asc',
      })
      return {
        headers: pinnedHeaders(at),
        body: Buffer.concat([
          utf8('{"activities":['),
          ...commaSeparated(rows.map((row) => row.body)),
          utf8(']}'),
        ]),
      }
    },
  }
}
