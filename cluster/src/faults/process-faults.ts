/** What one process is told of the faults in force, as data. */
import type { LieKind } from '../view/lies.ts'
import type { EdgeName } from './fault-spec.ts'

/** What a byte-level proxy does to what passes it. */
export type LinkFault =
  | { readonly kind: 'slow'; readonly latencyMs: number; readonly jitterMs: number }
  | { readonly kind: 'drop'; readonly rate: number }
  | { readonly kind: 'reset' }

/** All that one process is told of the faults in force, at once. */
export type ProcessFaults = {
  readonly lie: LieKind | null
  readonly clockOffsetMs: number
  /** Of the engine that belongs to the process. */
  readonly engine: 'killed' | 'paused' | null
  /** Whether its log finds no room. */
  readonly isDiskFull: boolean
  /** Nodes whose engines it cannot reach. */
  readonly cutPeers: readonly string[]
  readonly edges: Readonly<Record<EdgeName, readonly LinkFault[]>>
}

export const NO_FAULTS: ProcessFaults = {
  lie: null,
  clockOffsetMs: 0,
  engine: null,
  isDiskFull: false,
  cutPeers: [],
  edges: { http: [], log: [], redis: [], p2p: [] },
}
