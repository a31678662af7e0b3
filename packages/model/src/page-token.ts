/** Page tokens (D-11), hashed with Node.js crypto. */
import { sha256 } from '@quorumscan/base'
import {
  formatPageToken as format,
  type PagePosition,
  type PageSubject,
  parsePageToken as parse,
} from '@quorumscan/verifier/certified'

export type { PagePosition, PageSubject }

/** As in `packages/verifier`. */
export function formatPageToken(genesisHash: string, subject: PageSubject, position: PagePosition) {
  return format({ genesisHash, sha256 }, subject, position)
}

/** @returns undefined unless the token is exactly the result of `formatPageToken` for this list. */
export function parsePageToken(genesisHash: string, subject: PageSubject, token: string) {
  return parse({ genesisHash, sha256 }, subject, token)
}
