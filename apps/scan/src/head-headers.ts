import type { Head } from '@quorumscan/ledger'
import { formatInstant as formatTime } from '@quorumscan/verifier'

type Place = Pick<Head, 'offset' | 'recordTime'>

/** Of every answer and every error (D-10): how far the log was followed. */
export function headHeaders(headOf: () => Place): () => Readonly<Record<string, string>> {
  let last: { readonly head: Place; readonly headers: Readonly<Record<string, string>> } | null =
    null
  return () => {
    const head = headOf()
    if (last?.head !== head) {
      const { offset, recordTime } = head
      const headers = {
        'x-ledger-head': String(offset),
        'x-ledger-head-time': formatTime(recordTime),
      }
      last = { head, headers }
    }
    return last.headers
  }
}
