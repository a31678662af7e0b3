/** What a reader knows and keeps, in whichever way it reads: nodes, addresses, floor, histories. */
import { type CryptoPort, createWebCrypto } from '../crypto/crypto.ts'
import { type GenesisNode, maxFaulty } from '../genesis/genesis.ts'
import { createDirectory, type Directory } from '../nodes/directory.ts'
import { createLink, type Lane, type Link } from '../nodes/link.ts'
import { nodeStatus } from '../nodes/node-status.ts'
import type { Decisions } from '../votes/decisions.ts'
import { createHistories, type Fork, type Histories } from '../votes/histories.ts'
import { createFloor, type Floor } from './floor.ts'
import type { ReaderOptions, ReaderStatus } from './reader-options.ts'

const FORKS_KEPT_MAX = 16

export type ReaderBase = {
  readonly options: ReaderOptions
  readonly decisions: Decisions
  readonly crypto: CryptoPort
  readonly nodeCount: number
  readonly faultyMax: number
  /** Aborted when the reader closes. */
  readonly closing: AbortController
  readonly links: readonly Link[]
  readonly floor: Floor
  readonly histories: Histories
  readonly directory: Directory
  /** Told that a node has an address, or another one. */
  readonly onAddress: Set<(link: Link) => void>
  /** Which lanes are silent only the reader knows, which keeps their flights. */
  status(waiting: number, isSilent: (lane: Lane) => boolean): ReaderStatus
}

/** @throws {ReaderError} INVALID_ARGUMENT if a seed is no http or https URL. */
export function createReaderBase(options: ReaderOptions, decisions: Decisions): ReaderBase {
  const { genesis } = options
  const nodeCount = genesis.nodes.length
  const faultyMax = maxFaulty(nodeCount)
  const closing = new AbortController()
  const crypto = options.crypto ?? createWebCrypto()
  const nodes = decisions.connections(genesis).map((index) => genesis.nodes[index] as GenesisNode)
  const links = nodes.map(createLink)
  const forks: Fork[] = []
  const floor = createFloor(options.floorStore)
  const base: ReaderBase = {
    options,
    decisions,
    crypto,
    nodeCount,
    faultyMax,
    closing,
    links,
    floor,
    histories: createHistories({
      faultyMax,
      onFork: (fork) => {
        forks.push(fork)
        if (forks.length > FORKS_KEPT_MAX) forks.shift()
        options.onFork?.(fork)
      },
    }),
    directory: createDirectory({
      reader: options,
      crypto,
      signal: closing.signal,
      onAddress: ({ name, url, sequence }) => {
        for (const link of links) {
          if (link.name !== name) continue
          link.url = url
          link.sequence = sequence
          for (const tell of base.onAddress) tell(link)
        }
      },
    }),
    onAddress: new Set(),
    status: (waiting, isSilent) => ({
      nodeCount,
      faultyMax,
      floor: floor.value(),
      waiting,
      nodes: links.map((link) => nodeStatus(link, isSilent)),
      forks: [...forks],
    }),
  }
  return base
}
