/** Receipts of lookups, through the scan proxy as any client gets them (D-42). */
import { VERIFIED_MEDIA_TYPE } from '@quorumscan/api'
import { ask } from '../../ask.ts'
import { ClusterError } from '../../cluster-error.ts'
import { lookupInput, procedure, router } from '../trpc.ts'

/** The proxy waits 2 s for its nodes (D-38). */
const TIMEOUT_MS = 5000

export const receiptsRouter = router({
  /** The body with answer and receipt as it came, and who signed. */
  get: procedure.input(lookupInput).query(async ({ ctx, input }) => {
    const { url } = ctx.cluster.status().validator
    const kind = input.subject.includes('::') ? 'by-party' : 'by-name'
    const path = `/v0/scan-proxy/ans-entries/${kind}/${encodeURIComponent(input.subject)}`
    const { status, text, body } = await ask(url + path, {
      headers: { accept: VERIFIED_MEDIA_TYPE, 'x-quorum': input.quorum },
      timeoutMs: TIMEOUT_MS,
    })
    if (status === null) throw new ClusterError('the validator does not answer')
    const { receipt, error = status } = Object(body)
    if (receipt === undefined) throw new ClusterError(`no receipt: ${error}`)
    const { signatures, offset, history_hash: historyHash } = Object(receipt)
    return {
      text,
      signers: (signatures as readonly (readonly [string, string])[]).map(([node]) => node),
      offset: Number(offset),
      historyHash: String(historyHash),
    }
  }),
})
