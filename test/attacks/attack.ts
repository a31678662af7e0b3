/**
 * An attack is a program that attacks a running cluster, and returns a verdict: whether its claim holds.
 * `attacks.test.ts` runs all attacks. `node test/dist/attacks/main.js NAME` runs one.
 */
import type { RunningCluster } from 'quorumscan/testing'
import { startCluster } from '../support/clusters.ts'
import { NETWORK_RULES } from '../support/network.ts'

export type Attack = {
  /** Name on the command line, for example `one-byte-chunks`. */
  readonly name: string
  /** Whether it also has a part of its own, and a cluster of its own, because other attacks leave work behind. */
  readonly needsOwnCluster?: boolean
  /** Another long part than `attacks`, with a cluster that its attacks share. */
  readonly part?: 'attacks-sources'
  /** One sentence each for the attacker, the attack, and what must hold. */
  readonly claim: string
  /** Ordering of the attacked cluster. Default: `redis`, with one synchronizer. */
  readonly ordering?: 'cometbft'
  /** Units per second of an address, for an attack with a cluster of its own. Default: those of a cluster. */
  readonly rateLimit?: number
  /** Rules of the genesis, for an attack with a cluster of its own. */
  readonly genesis?: { readonly stateBytesPerDay: number }
  /** Restores the cluster at its end, also if it throws. */
  run(target: Target): Promise<Verdict>
}

export type Target = {
  readonly cluster: RunningCluster
}

export type Verdict = {
  readonly holds: boolean
  /** The measured figures with their limits, to be printed. */
  readonly figures: Readonly<Record<string, number | string>>
}

/** A cluster to be attacked. @param own - The attack that has it alone. */
export function startAttacked(
  ordering: 'redis' | 'cometbft',
  { rateLimit, genesis }: Pick<Attack, 'rateLimit' | 'genesis'> = {},
): Promise<RunningCluster> {
  return startCluster({
    nodes: 4,
    ordering,
    genesisOverrides: { ...NETWORK_RULES, ...genesis },
    ...(rateLimit !== undefined && { rateLimit }),
  })
}
