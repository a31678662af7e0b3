/** An operator as its checks see it, and the checks that are made both before and after its start. */

import { type Clock, type Env, openClientTls } from '@quorumscan/base'
import { createFetch, createUndiciTransport, endpointsOf, type Peer } from '@quorumscan/runtime'
import { memberSetOf } from '@quorumscan/verifier'
import type { OperatorConfig } from '../run/operator-config.ts'
import { planUnstarted, readServiceConfig } from '../run/operator-services.ts'
import { learnAddresses } from '../run/second-machine.ts'
import { checkCertificates } from './certificates.ts'
import type { Check } from './check.ts'
import { checkGenesis } from './genesis.ts'
import { checkDisk } from './machine.ts'
import { askPeers, checkClock, checkIssuer, checkLookups, checkPeers } from './peers.ts'

export type CheckedOperator = ReturnType<typeof checkedOperator>

/** @param given.config - As `readOperatorConfig` returns it, which refuses wrong variables, keys and files. */
export function checkedOperator(given: {
  readonly config: OperatorConfig
  readonly redisServer: string
  /** The variables that processes inherit. */
  readonly env: Env
  readonly clock: Clock
}) {
  const { name, genesis, members, variables } = given.config
  const file = variables['QS_PEER_CA']
  const trust = openClientTls({ ca: file ? { variable: 'QS_PEER_CA', file } : null, own: null })
  const isMemberOrdered = genesis.ordering.driver === 'cometbft'
  const services = planUnstarted(given.config)
  const settings = services.map((service) => readServiceConfig(service))
  const { nodes } = settings[0] ?? { nodes: [] }
  const url = members.find((member) => member.name === name)?.url
  return {
    ...given,
    services,
    isMemberOrdered,
    /** The configuration of a process that follows the one synchronizer. */
    followers: isMemberOrdered ? [] : settings.flatMap((one) => ('log' in one ? [one] : [])),
    /** The configuration of a validator that asks no node at a private address. */
    publicOnly: settings.flatMap((one) =>
      'allowPrivateAddresses' in one && !one.allowPrivateAddresses ? [one] : [],
    ),
    /** All scan nodes, as configured. */
    nodes,
    publicUrl: variables['QS_PUBLIC_URL'] || url || null,
    /** Below it, its synchronizer accepts no entries. 0: it runs none. */
    diskFreeMibMin:
      settings.flatMap((one) => ('ordering' in one ? one.diskFreeMibMin : []))[0] ?? 0,
    trust,
    /** A request that trusts the authorities of the operator's file. */
    fetch: createFetch(trust),
  }
}

/** The nodes at their addresses on the ledger; those that are not known, as configured. */
export async function locateNodes(operator: CheckedOperator): Promise<readonly Peer[]> {
  const { config, nodes, trust, clock } = operator
  await using transport = createUndiciTransport({ trust })
  const seeds = nodes.map(({ url }) => url)
  const urlByName = await learnAddresses(config.genesis, { seeds, transport, clock })
  return nodes.map((node) => {
    const [endpoint = node] = endpointsOf(node, urlByName.get(node.name), false)
    return { name: node.name, url: endpoint.url }
  })
}

/** @param nodes - As `locateNodes` returns them. */
export async function checkShared(
  operator: CheckedOperator,
  nodes: readonly Peer[],
): Promise<readonly Check[]> {
  const { config, services, publicUrl, clock, diskFreeMibMin, fetch, publicOnly } = operator
  const { variables, directory, genesis, name } = config
  const peers = nodes.filter((node) => node.name !== name)
  const engineHomes = services.flatMap(({ app }) => app.env['QS_ENGINE_HOME'] ?? [])
  const issuer = config.runs === 'validator' && variables['QS_JWKS_URL']
  const [answers, ...checks] = await Promise.all([
    askPeers(peers, operator),
    checkGenesis(nodes, config, { engineHomes, fetch }),
    checkCertificates(variables, publicUrl, clock),
    checkDisk(directory, diskFreeMibMin),
    issuer ? checkIssuer(issuer, fetch) : [],
    ...publicOnly.map(({ trustRule }) => checkLookups(nodes, trustRule)),
  ])
  if (peers.length === 0) return checks.flat()
  const clocks = checkClock(answers, memberSetOf(genesis).n, clock)
  return [...checks.flat(), checkPeers(answers), clocks]
}
