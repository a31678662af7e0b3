/** The activity history (D-24, D-25). Rows come ready from the replica and are only put together here. */
import type { scanRoutes } from '@quorumscan/api'
import { utf8 } from '@quorumscan/base'
import { type CertifiedAnswers, isCertified } from '@quorumscan/certifier'
import { type Handlers, withWaitOf } from '@quorumscan/server'
import { type Genesis, requestOfActivities } from '@quorumscan/verifier'
import { askActivities } from '@quorumscan/verifier/certified'
import { commaSeparated, pinAt, pinnedHeaders, type Reads } from '../pinned.ts'

export function createActivityHandlers(context: {
  readonly reads: Reads
  readonly genesis: Genesis
  readonly certified: CertifiedAnswers
}): Pick<Handlers<typeof scanRoutes>, 'listActivities'> {
  const { reads, certified } = context
  return {
    async listActivities(request) {
      const { body, headers: asked } = request
      const { page_size, begin_after_id: after, sort_order } = requestOfActivities(body).parameters
      const page = { after, order: sort_order }
      if (isCertified(request)) {
        const question = askActivities({ ...page, pageSize: page_size }, context)
        return certified.document(question, withWaitOf(request, { query: body }))
      }
      const at = await pinAt(reads, asked['x-read-at-offset'] ?? null, request)
      const rows = await reads.lookups.activities({ ...page, offset: at.offset, limit: page_size })
      const answer = Buffer.concat([
        utf8('{"activities":['),
        ...commaSeparated(rows.map((row) => row.body)),
        utf8(']}'),
      ])
      return { headers: pinnedHeaders(at), body: answer }
    },
  }
}
