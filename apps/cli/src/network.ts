/** The network of a command, and the addresses of its nodes: one whose files are named, or the cluster in the data directory. */
import { type Clock, sha256 } from '@quorumscan/base'
import { dataDirectory, readGenesis } from '@quorumscan/operator'
import {
  createFetchTransport,
  parseNodeUrl,
  shownUrl,
  type Transport,
  urlProblem,
} from '@quorumscan/reader'
import { type CertifiedReader, createCertifiedReader } from '@quorumscan/reader/certified'
import { UsageError } from '@quorumscan/runtime'
import { createPlatformCrypto, type Genesis, hashGenesis } from '@quorumscan/verifier'
import type { Command } from 'commander'
import type { LocalCluster } from './rig.ts'

export type NetworkFlags = { dataDir: string; genesis?: string; members?: string; scan?: string[] }

export type Network = {
  readonly genesis: Genesis
  /** A node of unknown name is called by its address. */
  readonly nodes: readonly { readonly name: string; readonly url: string }[]
}

/** The options that name a network other than the local cluster. */
export function withNetworkOptions(command: Command): Command {
  return command
    .option('--genesis <file>', 'the genesis of another network than the local cluster')
    .option('--members <dir>', 'with --genesis: a directory with the member files of its nodes')
    .option('--scan <url...>', 'with --genesis: the addresses of one or more of its nodes')
}

/** @throws {UsageError} If the options exclude each other, or a file is missing or malformed. */
export async function networkOf(flags: NetworkFlags, cluster: LocalCluster) {
  const { dataDir, genesis, members, scan } = flags
  if (genesis === undefined) {
    if ((members ?? scan) !== undefined)
      throw new UsageError(
        '--members and --scan name the nodes of a network: name its genesis with `--genesis` as well',
      )
    const directory = dataDirectory(dataDir)
    const { nodes, validatorUrl } = await cluster.addresses(directory)
    return { genesis: readGenesis(directory.genesisFile), nodes, validatorUrl }
  }
  if ((members === undefined) === (scan === undefined))
    throw new UsageError(
      `name the nodes of the network with \`--members DIR\` or with \`--scan URL\`${members === undefined ? '' : ', not with both'}`,
    )
  const urls = (scan ?? []).map((text) => urlOf('--scan', text))
  const nodes =
    members === undefined ? urls.map((url) => ({ name: url, url })) : await nodesOfMembers(members)
  // Only the cluster in a data directory has a known validator.
  return { genesis: readGenesis(genesis), nodes, validatorUrl: null }
}

/** A reader of proofs, which needs one of the nodes to find the others. */
export async function openReader(
  { genesis, nodes }: Network,
  clock: Clock,
  transport: Transport = createFetchTransport(),
): Promise<CertifiedReader> {
  const genesisHash = await hashGenesis(genesis)
  const seeds = nodes.map(({ url }) => url)
  const network = { genesis, genesisHash, sha256, crypto: createPlatformCrypto(), seeds }
  return createCertifiedReader({ ...network, transport, clock, allowPrivateAddresses: true })
}

/**
 * The nodes at the addresses that they signed themselves, as any of the nodes reports them. A node whose address no node
 * reports keeps the given one.
 */
export async function locateNodes(network: Network, clock: Clock): Promise<Network> {
  const { genesis, nodes } = network
  await using reader = await openReader(network, clock)
  await reader.refreshAddresses()
  const learned = reader
    .status()
    .nodes.flatMap(({ name, url }) => (name === null ? [] : { name, url }))
  const others = nodes.filter(({ name }) => !learned.some((node) => node.name === name))
  return { genesis, nodes: [...learned, ...others] }
}

/** The address that an option names. @throws {UsageError} If it is not an address. */
export function urlOf(option: string, text: string): string {
  const url = parseNodeUrl(text, true)
  if (url !== undefined) return url
  throw new UsageError(
    `${option} ${urlProblem(text)}: ${shownUrl(text)}; it is an address such as https://sv-1.example:4611`,
  )
}

async function nodesOfMembers(directory: string): Promise<Network['nodes']> {
  const { readMembers } = await import('@quorumscan/operator/run')
  return readMembers(directory).flatMap((member) =>
    member.role === 'super-validator' && member.url !== null
      ? [{ name: member.name, url: member.url }]
      : [],
  )
}
