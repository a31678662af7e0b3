/** What a caller of the scan proxy may ask of a read: threshold, floor and freshness (D-36, D-39). */

import { ScanError } from '@quorumscan/errors'
import type { ReadOptions } from '@quorumscan/reader'
import type { WaitingRequest } from '@quorumscan/server'
import { type Genesis, maxFaulty, parseThreshold } from '@quorumscan/verifier'

export type QuorumRequest = WaitingRequest & {
  /** As it was asked for, the mount point and the query included. */
  readonly url: string
  readonly body?: unknown
  readonly query: { readonly quorum?: string }
  readonly headers: {
    readonly accept?: string
    readonly 'x-quorum'?: string
    readonly 'x-min-offset'?: number
    readonly 'x-max-age-ms'?: number
  }
  /** Its id and trace, which go on to the nodes. */
  readonly forward: Readonly<Record<string, string>>
}

/** @throws {ScanError} INVALID_QUORUM if the threshold is none that D-36 knows. */
export function quorumOptions(
  request: QuorumRequest,
  genesis: Genesis,
): ReadOptions & { readonly signal: AbortSignal } {
  const { headers } = request
  // D-36: the header wins.
  const asked = headers['x-quorum'] ?? request.query.quorum ?? 'weak'
  const nodeCount = genesis.nodes.length
  const threshold = parseThreshold(asked, nodeCount)
  if (threshold === undefined)
    throw new ScanError(
      'INVALID_QUORUM',
      `The quorum is weak, strong, all or a number from ${maxFaulty(nodeCount) + 1} to ${nodeCount}.`,
      { details: { quorum: asked, min: maxFaulty(nodeCount) + 1, max: nodeCount } },
    )
  return {
    threshold,
    signal: request.signal,
    headers: request.forward,
    ...(headers['x-min-offset'] === undefined ? {} : { minOffset: headers['x-min-offset'] }),
    ...(headers['x-max-age-ms'] === undefined ? {} : { maxAgeMs: headers['x-max-age-ms'] }),
  }
}
