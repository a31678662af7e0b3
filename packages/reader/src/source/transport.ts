/** How the reader reaches nodes. `fetch-transport.ts` serves browsers, `packages/server` serves Node. */

export type TransportRequest = {
  /** Base address of the node, without a trailing slash. */
  readonly url: string
  readonly method: 'GET' | 'POST'
  /** Path and query below the base address. */
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: Uint8Array<ArrayBuffer> | null
  /** A larger answer is given up on: the promise rejects. */
  readonly bytesMax: number
  /** Pages and activities ('bulk') use connections of their own, so that they delay no lookup (D-14). */
  readonly channel: 'lookup' | 'bulk'
  /**
   * How long an answer must be at most to be of any use by now: where it comes and is longer by far, a transport
   * may stop reading it, and reject.
   */
  readonly bytesWanted?: () => number
  /**
   * Refuse to connect where the name of the node resolves to an address that is not public (D-34). A
   * browser does not tell, so there this is not looked at.
   */
  readonly isPublicOnly: boolean
  readonly signal: AbortSignal
}

export type TransportReply = {
  readonly status: number
  /** The header's value, or null. `name` is lower-case. */
  header(name: string): string | null
  /** The reader's: nobody else writes to it. */
  readonly body: Uint8Array<ArrayBuffer>
}

/** What a transport rejects with that refuses to connect for `isPublicOnly`. */
export class PrivateAddressError extends Error {
  override readonly name = 'PrivateAddressError'
}

/** Never follows a redirect (D-34). Rejects when the node cannot be reached or the signal aborts. */
export interface Transport {
  request(input: TransportRequest): Promise<TransportReply>
}

/** What requests for a document have in common. */
export const GET = { method: 'GET', headers: {}, body: null, channel: 'bulk' } as const
