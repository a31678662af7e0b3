/** The activity history (D-24, D-25). Rows come ready from the replica and are only put together here. */
import type { scanRoutes } from '@quorumscan/api'
import { utf8 } from '@quorumscan/base'
import { requestOfActivities } from '@quorumscan/consensus'
import type { Handlers } from '@quorumscan/http'
import { answerHeaders, commaSeparated, pinAt, type Reads } from '../pinned.ts'
import type { Signer } from '../signer.ts'

export function createActivityHandlers(context: {
  readonly reads: Reads
  readonly signer: Signer
}): Pick<Handlers<typeof scanRoutes>, 'listActivities'> {
  const { reads, signer } = context
  return {
    async listActivities(request) {
      const { body, headers: asked } = request
      const at = await pinAt(reads, asked['x-read-at-offset'] ?? null, request)
      const signed = requestOfActivities(body)
      const { page_size: limit, begin_after_id: after, sort_order: order } = signed.parameters
      const rows = await reads.activities({ offset: at.offset, after, limit, order })
      const answer = Buffer.concat([
        utf8('{"activities":['),
        ...commaSeparated(rows.map((row) => row.body)),
        utf8(']}'),
      ])
      const signable = { request: signed, body: answer }
      return { headers: answerHeaders(signable, { at, asked, signer }), body: answer }
    },
  }
}
