/**
 * An attack: a program that does to a running cluster what an attacker could do, and
 * a verdict whether its claim held. `attacks.test.ts` runs all of them on one cluster; one of them alone
 * is run by `node test/dist/attacks/main.js NAME`.
 */
import type { RunningCluster } from 'quorumscan/testing'

export type Attack = {
  /** As a person types it, e.g. `one-byte-chunks`. */
  readonly name: string
  /**
   * Whether the verdict compares times that other work on the machine changes. Such an attack has one limit and does
   * not run in CI: it runs by hand and in `npm run test:long`, on a quiet machine.
   */
  readonly needsQuietMachine?: boolean
  /** The attacker, the attack, and what must hold: a sentence each. */
  readonly claim: string
  /** Of the cluster that it attacks. Default `redis`: one synchronizer. */
  readonly ordering?: 'cometbft'
  /** Leaves the cluster as it found it: what it broke it heals, also when it throws. */
  run(target: Target): Promise<Verdict>
}

export type Target = {
  readonly cluster: RunningCluster
  /** In full (`npm run test:long`) rather than bounded, as in CI. */
  readonly isLong: boolean
}

export type Verdict = {
  readonly holds: boolean
  /** What was measured, for a person: figures with their limits. */
  readonly figures: Readonly<Record<string, number | string>>
}
