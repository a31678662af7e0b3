/** The readers of the scan proxy: votes of the nodes, or one node's proof; and the read floor of both. */
import { held, openAll, sha256 } from '@quorumscan/base'
import type { ValidatorConfig } from '@quorumscan/config'
import type { Follower } from '@quorumscan/follower'
import { parseNodeUrl } from '@quorumscan/reader'
import { createCertifiedReader } from '@quorumscan/reader/certified'
import { createReader } from '@quorumscan/reader/voted'
import {
  createUndiciTransport,
  type PeerTokens,
  type RateLimitedLog,
  tracedTransport,
} from '@quorumscan/runtime'
import { createReadFloor, localHistoryHash } from '@quorumscan/scan-proxy'
import type { App } from '@quorumscan/server'
import type { ValidatorStore } from '@quorumscan/users'
import { createPlatformCrypto, isTrusted, memberSetOf, type TrustRule } from '@quorumscan/verifier'
import type { ReadMetrics } from './metrics.ts'

/** D-38: how long a proxied read may take. */
const PROXY_WAIT_MS = 2000

/** @throws {ScanError} DEPENDENCY_UNAVAILABLE if the stored floor cannot be read. */
export async function openReads(
  app: App,
  parts: {
    readonly config: ValidatorConfig
    readonly trustRule: TrustRule | null
    readonly follower: Follower
    readonly peerTokenByOrigin: PeerTokens
    readonly store: ValidatorStore
    readonly readMetrics: ReadMetrics
    readonly alarms: RateLimitedLog
  },
) {
  const { clock, genesis, genesisHash, logger, tracer, trust } = app
  const { config, trustRule, peerTokenByOrigin, store, readMetrics, alarms } = parts
  const { allowPrivateAddresses } = config
  const { replica } = parts.follower
  const nodes = config.nodes.filter(({ name }) => isTrusted(trustRule, name))
  const otherUrls = config.nodes.filter((node) => !nodes.includes(node)).map(({ url }) => url)
  const nodeCount = trustRule?.members.length ?? memberSetOf(genesis).n
  const needed = trustRule?.threshold ?? parts.follower.needed
  const privateNodes = createPrivateNodes({ nodes, nodeCount, needed, allowPrivateAddresses })
  const notAsked = privateNodes.detail()
  if (notAsked !== null) logger.warn(notAsked)
  const readFloor = createReadFloor(replica, await store.floor.load())
  return openAll(async (resources) => {
    const transport = resources.opened(createUndiciTransport({ peerTokenByOrigin, trust }))
    const nodeAt = (url: string) =>
      nodes.find((node) => node.url === url)?.name ?? new URL(url).host
    const options: Omit<Parameters<typeof createCertifiedReader>[0], 'sha256'> = {
      crypto: createPlatformCrypto(),
      genesis,
      genesisHash,
      trust: trustRule,
      seeds: config.seeds.filter((url) => !otherUrls.includes(url)),
      clock,
      allowPrivateAddresses,
      transport: tracedTransport(transport, tracer, nodeAt),
      floorStore: store.floor,
      onFork(fork) {
        readMetrics.noteFork()
        alarms.write('fork', (suppressed) =>
          logger.error({ fork, ...suppressed }, 'the scan nodes hold different histories'),
        )
      },
    }
    /** Reads certified answers from one node, if the local replica cannot answer. */
    const certifiedReader = resources.opened(
      createCertifiedReader({ ...options, sha256, waitMs: PROXY_WAIT_MS }),
    )
    const reader = resources.opened(
      createReader({
        ...options,
        defer: setImmediate,
        localHistoryHash: localHistoryHash(replica),
        addressStore: {
          // The reader checks the signature of every record.
          load: async () => JSON.parse((await store.addresses.load()) ?? '[]'),
          save: (records) => store.addresses.save(JSON.stringify(records)),
        },
        onReply: readMetrics.noteReply,
        onPrivateAddress({ name, url }) {
          const sentence = `${name} is not asked: ${url} is a private address, and QS_ALLOW_PRIVATE_ADDRESSES is not 1`
          privateNodes.note({ name, url })
          alarms.write(`address of ${name}`, (suppressed) =>
            logger.warn({ node: name, url, ...suppressed }, sentence),
          )
        },
      }),
    )
    return { readFloor, certifiedReader, privateNodes, reader: readMetrics.measured(reader) }
  })
}

type Node = { readonly name: string; readonly url: string }

/** Scan nodes that the validator does not ask, because their addresses are private. Its operator can allow them. */
export function createPrivateNodes(options: {
  /** The configured nodes. */
  readonly nodes: readonly Node[]
  readonly nodeCount: number
  /** The number of nodes that must answer a lookup. */
  readonly needed: number
  readonly allowPrivateAddresses: boolean
}) {
  const { nodes, nodeCount, needed, allowPrivateAddresses } = options
  const isPrivate = ({ url }: Node) =>
    !allowPrivateAddresses && parseNodeUrl(url, false) === undefined
  const urlByName = held(
    {
      owner: 'validator',
      name: 'nodes with private addresses',
      kind: 'state',
      bound: 'one of each node',
    },
    new Map(nodes.filter(isPrivate).map(({ name, url }) => [name, url])),
  )
  return {
    /** Notes a node that has signed a private address, or a name that resolves to one. */
    note: ({ name, url }: Node) => void urlByName.set(name, url),
    /** The nodes that are not asked, and what to set; null if all are asked. */
    detail(): string | null {
      if (urlByName.size === 0) return null
      const refused = [...urlByName].map(([name, url]) => `${name} (${url})`).join(', ')
      const isTooFew = nodeCount - urlByName.size < needed
      return (
        `${urlByName.size} of ${nodeCount} nodes may not be asked, as their addresses are private: ${refused}. ` +
        `${isTooFew ? `Lookups need ${needed} nodes, and end with NOT_ENOUGH_NODES. ` : ''}` +
        'Set QS_ALLOW_PRIVATE_ADDRESSES=1 if this is their network'
      )
    },
  }
}
