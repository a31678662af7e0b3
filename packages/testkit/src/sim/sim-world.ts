/** The start of a simulation: honest nodes on a network in virtual time, all at the head of one ledger. */
import type { AddressRecord } from '@quorumscan/reader'
import type { Genesis } from '@quorumscan/verifier'
import { createTestNetwork } from '../test-network.ts'
import { createSimClock, type SimClock } from './sim-clock.ts'
import { createSimLedger, type SimEntry, type SimLedger } from './sim-ledger.ts'
import { createSimNetwork, type SimNetwork } from './sim-network.ts'
import { createSimNode, type SimNode, signAddress } from './sim-node.ts'

export type SimWorld = {
  readonly clock: SimClock
  readonly genesis: Genesis
  readonly genesisHash: string
  readonly ledger: SimLedger
  readonly network: SimNetwork
  readonly nodes: readonly SimNode[]
  /** In the order of `nodes`. */
  readonly urls: readonly string[]
  readonly records: readonly AddressRecord[]
}

export function createSimWorld(options: {
  readonly nodeCount: number
  readonly startMicros: number
  /** Record time of offset 0. */
  readonly genesisMicros: number
  readonly network?: number
  readonly latencyMs?: (url: string) => number
}): SimWorld {
  const clock = createSimClock(options.startMicros)
  const { genesis, genesisHash, scans } = createTestNetwork({
    nodeCount: options.nodeCount,
    recordTime: options.genesisMicros,
    network: options.network ?? 0,
  })
  const ledger = createSimLedger({ genesisHash, recordTime: genesis.recordTime })
  const network = createSimNetwork({ clock, latencyMs: options.latencyMs ?? (() => 1) })
  const urls = genesis.nodes.map((_, index) => `http://127.0.0.1:${index + 1}`)
  const nodes = genesis.nodes.map(({ name }, index) =>
    // The network has a key pair for every node.
    createSimNode({ name, keyPair: scans[index] as never, ledger, clock }),
  )
  const records = nodes.map(({ keyPair, name }, index) =>
    signAddress(keyPair, { genesisHash, name, url: urls[index] as string, sequence: 1 }),
  )
  for (const [index, node] of nodes.entries()) {
    node.records = records
    network.serve(urls[index] as string, node.answer)
  }
  return { clock, genesis, genesisHash, ledger, network, nodes, urls, records }
}

/** An entry of a name, with every field set. */
export function simEntry(
  name: string,
  more: Partial<SimEntry> & Pick<SimEntry, 'expiresAt'>,
): SimEntry {
  return {
    contractId: '00ab',
    user: `alice::1220${'a'.repeat(64)}`,
    name,
    url: 'https://example.com/',
    description: 'quote " brace } bracket ] backslash \\',
    ...more,
  }
}
