/** Our reader in a client process, beside what others read several servers with. */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type Genesis, parseGenesis } from '@quorumscan/verifier'
import type { RunningCluster } from 'quorumscan/testing'
import { runChild, startChild } from '../child.ts'
import type { ClientArgument, ClientLoad } from './client-child.ts'
import type { JsonRpcArgument, LastServer } from './json-rpc-child.ts'
import { nameOf, registerNames } from './names.ts'
import { CONNECTIONS, startBenchCluster, verified } from './round.ts'

const NAMES_ASKED = 8
const SERVERS = 4
const MANY_NODES = 13
const CLIENT = new URL('./client-child.js', import.meta.url)
const JSON_RPC = new URL('./json-rpc-child.js', import.meta.url)

export type Clients = {
  readonly reader: number
  readonly fetch: number
  readonly ethers: number
  /** With the last server hung, and dead. */
  readonly hung: { readonly reader: number; readonly ethers: number }
  readonly dead: { readonly reader: number; readonly ethers: number }
  /** Verified lookups/s through the proxy, by the number of nodes. */
  readonly few: number
  readonly many: number
}

export async function genesisOf({ dataDir }: RunningCluster): Promise<Genesis> {
  return parseGenesis(JSON.parse(await readFile(join(dataDir, 'genesis.json'), 'utf8')))
}

/** Reads per second, each in a process of its own. */
export async function measureClients(ms: number): Promise<Clients> {
  await using cluster = await startBenchCluster(SERVERS)
  await registerNames(cluster, NAMES_ASKED)
  const genesis = await genesisOf(cluster)
  const urls = Object.values(cluster.urls.nodes)
  const reads = await rateOf({ kind: 'reader', urls, genesis, ms })
  const naive = await rateOf({ kind: 'fetch', urls, genesis: null, ms })
  const ethers = await ethersRate(ms, 'fine')
  const last = `sv-${SERVERS}`
  await cluster.pause(last)
  const hungReads = await rateOf({ kind: 'reader', urls, genesis, ms })
  await cluster.resume(last)
  await cluster.kill(last)
  const deadReads = await rateOf({ kind: 'reader', urls, genesis, ms })
  await cluster.restart(last)
  return {
    reader: reads,
    fetch: naive,
    ethers,
    hung: { reader: hungReads, ethers: await ethersRate(ms, 'hung') },
    dead: { reader: deadReads, ethers: await ethersRate(ms, 'dead') },
    ...(await measureSizes(cluster, ms)),
  }
}

async function measureSizes(
  few: RunningCluster,
  ms: number,
): Promise<{ few: number; many: number }> {
  await using many = await startBenchCluster(MANY_NODES)
  await registerNames(many, NAMES_ASKED)
  return {
    many: (await verified(many, ms)).perSecond,
    few: (await verified(few, ms)).perSecond,
  }
}

async function ethersRate(ms: number, last: LastServer): Promise<number> {
  const argument: JsonRpcArgument = { count: SERVERS, last }
  await using servers = startChild(JSON_RPC, argument)
  const { urls } = await servers.result<{ urls: string[] }>()
  return await rateOf({ kind: 'ethers', urls, genesis: null, ms })
}

async function rateOf(options: {
  readonly kind: ClientArgument['kind']
  readonly urls: readonly string[]
  readonly genesis: Genesis | null
  readonly ms: number
}): Promise<number> {
  const names = Array.from({ length: NAMES_ASKED }, (_, index) => nameOf(index))
  const argument: ClientArgument = { ...options, names, concurrency: CONNECTIONS }
  const { perSecond, failureCount } = await runChild<ClientLoad>(CLIENT, argument)
  if (failureCount > 0 && options.kind === 'reader')
    throw new Error(`${failureCount} of the reads ended without an answer`)
  return perSecond
}
