/** What a reader knows and keeps, in whichever way it reads: nodes, addresses, floor, histories. */

import type { HistoryPoint } from '@quorumscan/verifier'
import { type CryptoPort, createWebCrypto, type GenesisNode, maxFaulty } from '@quorumscan/verifier'
import { createFloor, type Floor } from '../floor.ts'
import type { ReaderOptions, ReaderStatus } from '../reader-options.ts'
import type { Address } from '../source/address-book.ts'
import { createDirectory, type Directory } from '../source/directory.ts'
import type { Decisions } from '../votes/decisions.ts'
import { createHistories, type Fork, type Histories, noteHistory } from '../votes/histories.ts'
import {
  createNode,
  type Lane,
  type Node,
  nodeStatus,
  noteAddress,
  notePrivateAddress,
} from './node.ts'

const FORKS_KEPT_MAX = 16

export type ReaderBase = {
  readonly options: ReaderOptions
  readonly decisions: Decisions
  readonly crypto: CryptoPort
  readonly nodeCount: number
  readonly faultyMax: number
  /** Aborted when the reader closes. */
  readonly closing: AbortController
  readonly nodes: readonly Node[]
  readonly floor: Floor
  readonly histories: Histories
  readonly directory: Directory
  /** Told that a node has an address, or another one. */
  readonly onAddress: Set<(address: Address) => void>
  noteFork(fork: Fork): void
  /** Notes that a node is not asked, as its address is private. */
  notePrivate(refused: { readonly name: string; readonly url: string }): void
  /** Notes whose history a valid answer tells. */
  notePoint(holder: string, point: HistoryPoint): void
  /** Only who sends knows which lanes are silent. */
  status(waiting: number, isSilent: (lane: Lane) => boolean): ReaderStatus
}

/** @throws {ReaderError} INVALID_ARGUMENT if a seed is no http or https URL. */
export function createReaderBase(options: ReaderOptions, decisions: Decisions): ReaderBase {
  const { genesis } = options
  const nodeCount = genesis.nodes.length
  const faultyMax = maxFaulty(nodeCount)
  const closing = new AbortController()
  const crypto = options.crypto ?? createWebCrypto()
  const connections = decisions.connections(genesis)
  const nodes = connections.map((of, index) => createNode(genesis.nodes[of] as GenesisNode, index))
  const forks: Fork[] = []
  const floor = createFloor(options.floorStore)
  const histories = createHistories(faultyMax)
  const noteFork = (fork: Fork): void => {
    forks.push(fork)
    if (forks.length > FORKS_KEPT_MAX) forks.shift()
    options.onFork?.(fork)
  }
  const onAddress = new Set<(address: Address) => void>()
  /** The last that was told of each node. */
  const privateUrls = new Map<string, string>()
  const notePrivate: ReaderBase['notePrivate'] = ({ name, url }) => {
    if (privateUrls.get(name) === url) return
    privateUrls.set(name, url)
    options.onPrivateAddress?.({ name, url })
  }
  return {
    options,
    decisions,
    crypto,
    nodeCount,
    faultyMax,
    closing,
    nodes,
    floor,
    histories,
    directory: createDirectory({
      reader: options,
      crypto,
      signal: closing.signal,
      onAddress: (address) => {
        for (const node of nodes) if (node.name === address.name) noteAddress(node, address)
        for (const tell of onAddress) tell(address)
      },
      onPrivate: (address) => {
        for (const node of nodes) if (node.name === address.name) notePrivateAddress(node, address)
        notePrivate(address)
      },
    }),
    onAddress,
    noteFork,
    notePrivate,
    notePoint(holder, point) {
      const fork = noteHistory(histories, holder, point)
      if (fork !== null) noteFork(fork)
    },
    status: (waiting, isSilent) => ({
      nodeCount,
      faultyMax,
      floor: floor.value(),
      waiting,
      nodes: nodes.map((node) => nodeStatus(node, isSilent)),
      forks: [...forks],
    }),
  }
}
