/** Compares our reader in a client process with other clients of several servers. */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Resources } from '@quorumscan/base'
import { type Genesis, parseGenesis } from '@quorumscan/verifier'
import type { RunningCluster } from 'quorumscan/testing'
import { startChild } from '../../support/child.ts'
import type { ReadsArgument } from '../../support/client-loop.ts'
import type { Load } from '../../support/load.ts'
import {
  CONNECTIONS,
  type Loader,
  loaderOf,
  lookupsOf,
  PROXY_PATH,
  startBenchCluster,
} from '../lookups.ts'
import { atLeast, printRow } from '../report.ts'
import { inTurn, ratiosOf } from '../turns.ts'
import type { ClientArgument } from './client-child.ts'
import type { JsonRpcArgument, LastServer } from './json-rpc-child.ts'
import { nameOf, registerNames } from './names.ts'

const NAMES_USED = 8
const SERVERS = 4
const LAST = `sv-${SERVERS}`
const CLIENT = 'bench/proxy/client-child'
const ETHERS = 'comparisons/ethers-child'
const JSON_RPC = 'bench/proxy/json-rpc-child'
const perSecond = (load: Load) => load.perSecond

export type ClientOptions = {
  readonly turns: number
  /** Turns before rates of servers are compared. The code of a server becomes faster for half a minute of load. */
  readonly warmUpTurns: number
  /** Duration of one slice of a turn. */
  readonly ms: number
  /** Nodes of the cluster that is compared with the one of four nodes. */
  readonly manyNodes: number
}

export async function genesisOf({ dataDir }: RunningCluster): Promise<Genesis> {
  return parseGenesis(JSON.parse(await readFile(join(dataDir, 'genesis.json'), 'utf8')))
}

export async function measureClients(
  cluster: RunningCluster,
  { turns, warmUpTurns, ms, manyNodes }: ClientOptions,
): Promise<void> {
  await using children = new Resources()
  const names = Array.from({ length: NAMES_USED }, (_, index) => nameOf(index))
  const client = (argument: Pick<ClientArgument, 'kind' | 'urls' | 'genesis'>) =>
    loaderOf(
      children,
      startChild(CLIENT, {
        ...argument,
        names,
        concurrency: CONNECTIONS,
        ms,
      } satisfies ClientArgument),
    )
  const ethers = async (last: LastServer): Promise<Loader> => {
    const servers = startChild(JSON_RPC, { count: SERVERS, last } satisfies JsonRpcArgument)
    const { urls } = await children.opened(servers).result<{ urls: string[] }>()
    const argument = { urls, names, concurrency: CONNECTIONS, ms } satisfies ReadsArgument
    return loaderOf(children, startChild(ETHERS, argument))
  }
  const row = (what: string, over: readonly Load[], under: readonly Load[], budget: number) =>
    printRow({ what, values: ratiosOf(over, under, perSecond), budget: atLeast(budget) })

  const urls = Object.values(cluster.urls.nodes)
  const reader = await client({ kind: 'reader', urls, genesis: await genesisOf(cluster) })
  const healthy = await inTurn(turns, {
    reader,
    ethers: await ethers('fine'),
    fetch: await client({ kind: 'fetch', urls, genesis: null }),
  })
  row('reads/s of a client ÷ ethers FallbackProvider', healthy.reader, healthy.ethers, 8)
  row('reads/s of a client ÷ a quorum over fetch', healthy.reader, healthy.fetch, 20)

  await cluster.pause(LAST)
  const hung = await inTurn(turns, { reader, ethers: await ethers('hung') })
  await cluster.resume(LAST)
  row('the same, one node hung ÷ ethers', hung.reader, hung.ethers, 8)

  await cluster.kill(LAST)
  const dead = await inTurn(turns, { reader, ethers: await ethers('dead') })
  await cluster.restart(LAST)
  row('the same, one node dead ÷ ethers', dead.reader, dead.ethers, 8)

  await using many = await startBenchCluster(manyNodes)
  await registerNames(many, NAMES_USED)
  const verified = ({ urls }: RunningCluster) =>
    lookupsOf(children, { origin: urls.validator, prefix: PROXY_PATH, ms })
  const [few, most] = await Promise.all([verified(cluster), verified(many)])
  const sizes = await inTurn(turns, { few, most }, warmUpTurns)
  row(`verified lookups/s with n = ${manyNodes} ÷ n = 4`, sizes.most, sizes.few, 0.25)
}
