/** What the scan proxy works with. The validator opens it. */
import type { Clock } from '@quorumscan/base'
import type { Certifier } from '@quorumscan/certifier'
import type { CertifiedReader } from '@quorumscan/reader/certified'
import type { Reader } from '@quorumscan/reader/voted'
import type { Replica } from '@quorumscan/replica'
import type { EvidenceStore } from './evidence.ts'
import type { ProxyNetwork } from './operations.ts'
import type { ReadFloor } from './read-floor.ts'

export type ScanProxyDeps = ProxyNetwork & {
  readonly clock: Clock
  readonly ledger: Replica
  readonly certifier: Certifier
  /** Voted reads: the answers of the nodes are votes. */
  readonly reader: Reader
  /** Reads what one node proves: where the local replica cannot. */
  readonly certifiedReader: CertifiedReader
  readonly readFloor: ReadFloor
  readonly evidence: EvidenceStore
}
