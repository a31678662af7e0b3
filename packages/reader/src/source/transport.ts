/** The port by which readers reach nodes: `fetch-transport.ts` in browsers, undici (`packages/runtime`) in servers. */

export type TransportRequest = {
  /** Base address of the node, without a trailing slash. */
  readonly url: string
  readonly method: 'GET' | 'POST'
  /** Path and query below the base address. */
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: Uint8Array<ArrayBuffer> | null
  /** A larger answer is aborted: the promise rejects. */
  readonly bytesMax: number
  /** Pages and activities ('bulk') use connections of their own, so that they delay no lookup (D-14). */
  readonly channel: 'lookup' | 'bulk'
  /**
   * The longest answer that is still useful. A transport may stop reading one that is much longer, and reject.
   */
  readonly bytesWanted?: () => number
  /** Called with the size of each part of the body that arrives. The transport of browsers ignores it. */
  readonly onProgress?: ((bytes: number) => void) | undefined
  /**
   * Refuse to connect if the host resolves to an address that is not public (D-34). Browsers do not show the address,
   * so that their transport ignores this.
   */
  readonly isPublicOnly: boolean
  readonly signal: AbortSignal
}

/** What an operation decides about its request. */
export type NodeRequest = Pick<
  TransportRequest,
  'method' | 'path' | 'headers' | 'body' | 'bytesMax'
>

export type TransportReply = {
  readonly status: number
  /** The header's value, or null. `name` is lower-case. */
  header(name: string): string | null
  /** Owned by the reader: the transport does not write to it later. */
  readonly body: Uint8Array<ArrayBuffer>
}

/** A transport rejects with it if it refuses to connect because of `isPublicOnly`. */
export class PrivateAddressError extends Error {
  override readonly name = 'PrivateAddressError'
}

/** Never follows a redirect (D-34). Rejects when the node cannot be reached or the signal aborts. */
export interface Transport {
  request(input: TransportRequest): Promise<TransportReply>
}

/** The common members of requests for a document. */
export const GET = { method: 'GET', headers: {}, body: null, channel: 'bulk' } as const
