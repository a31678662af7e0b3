/** What the scan proxy works with. The validator opens it. */
import type { validatorRoutes } from '@quorumscan/api'
import type { Clock } from '@quorumscan/base'
import type { Certifier } from '@quorumscan/certifier'
import type { Reader } from '@quorumscan/reader'
import type { CertifiedReader } from '@quorumscan/reader/certified'
import type { Replica } from '@quorumscan/replica'
import type { Handlers } from '@quorumscan/server'
import type { Genesis } from '@quorumscan/verifier'
import type { EvidenceKeeper } from './evidence.ts'
import type { Shown } from './read-floor.ts'

export type ScanProxyDeps = {
  readonly genesis: Genesis
  /** Hex. */
  readonly genesisHash: string
  readonly clock: Clock
  readonly ledger: Replica
  readonly certifier: Certifier
  /** Lets the nodes vote; no answer is older than what was shown. */
  readonly reader: Reader
  /** Reads what one node proves: where the own replica cannot. */
  readonly certifiedReader: CertifiedReader
  readonly shown: Shown
  readonly evidence: EvidenceKeeper
}

// The routes of the proxy are public: no handler of them sees a user.
type ProxyHandlers = Handlers<typeof validatorRoutes, unknown>

/** The handlers of some operations of the proxy. */
export type ProxyHandlersOf<Operation extends keyof ProxyHandlers> = Pick<ProxyHandlers, Operation>
