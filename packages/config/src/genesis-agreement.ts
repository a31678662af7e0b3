/**
 * What a configuration and the genesis must agree on. A process asks these functions at its start, and `run --check` asks
 * them before. Each throws an `EnvError` that names the variable.
 */
import { EnvError } from '@quorumscan/base'
import { type Genesis, memberSetOf, type TrustRule, trustRule } from '@quorumscan/verifier'
import type { ScanConfig } from './scan-config.ts'
import type { ValidatorConfig } from './validator-config.ts'

/** The configured rule, in the order of the genesis; null: all members count. @throws {EnvError} If it names another member. */
export function trustRuleIn(
  { trustRule: configured }: Pick<ValidatorConfig, 'trustRule'>,
  genesis: Pick<Genesis, 'nodes'>,
): TrustRule | null {
  if (configured === null) return null
  try {
    const names = memberSetOf(genesis).members.map(({ name }) => name)
    return trustRule(configured, names)
  } catch (error) {
    throw wrong('QS_TRUST_MEMBERS', { why: (error as RangeError).message })
  }
}

/**
 * The nodes that confirm clock and log of the synchronizer, each counted once by its name in the genesis.
 *
 * @returns `needed`: how many of them must confirm: f + 1.
 * @throws {EnvError} If the genesis has no node of that name, or too few are named.
 */
export function confirmingNodesIn<Node extends { readonly name: string }>(
  nodes: readonly Node[],
  genesis: Pick<Genesis, 'nodes'>,
): { readonly nodes: readonly Node[]; readonly needed: number } {
  const needed = memberSetOf(genesis).f + 1
  const nodeByName = new Map(nodes.map((node) => [node.name, node]))
  for (const name of nodeByName.keys())
    if (!memberSetOf(genesis).members.some((node) => node.name === name))
      throw wrong('QS_NODES', { why: `the genesis has no node ${JSON.stringify(name)}` })
  if (nodeByName.size < needed)
    throw wrong('QS_NODES', {
      sentence: `QS_NODES must name ${needed} nodes of the genesis, which confirm the clock`,
    })
  return { nodes: [...nodeByName.values()], needed }
}

/** How the members order, for a process with an engine. @throws {EnvError} If the network has one synchronizer. */
export function memberOrderingIn({ ordering }: Pick<Genesis, 'ordering'>) {
  if (ordering.driver === 'cometbft') return ordering
  throw wrong('QS_ENGINE_HOME', {
    sentence:
      'QS_ENGINE_HOME is set, but the genesis has the ordering driver redis: unset it, or use the genesis of a cometbft network',
  })
}

/** The node of a process, and its place in the genesis. @throws {EnvError} If the genesis has no node of that name. */
export function nodeIn(
  { nodeName }: Pick<ScanConfig, 'nodeName'>,
  genesis: Pick<Genesis, 'nodes'>,
) {
  const index = memberSetOf(genesis).members.findIndex((node) => node.name === nodeName)
  const node = memberSetOf(genesis).members[index]
  if (node === undefined)
    throw wrong('QS_NODE_NAME', { why: `the genesis has no node ${JSON.stringify(nodeName)}` })
  return { node, index }
}

/** @param party - Of the node itself. @throws {EnvError} If the node would send its rewards to itself. */
export function assertRewardsLeave({ rewards }: Pick<ScanConfig, 'rewards'>, party: string): void {
  if (rewards?.to === party)
    throw wrong('QS_REWARDS_TO', {
      sentence: 'QS_REWARDS_TO names the party of this node itself, which has the rewards',
    })
}

/** The error of a variable whose text contradicts the genesis. */
function wrong(
  variable: string,
  what: { readonly why: string } | { readonly sentence: string },
): EnvError {
  return new EnvError([{ variable, place: 'value', ...what }])
}
