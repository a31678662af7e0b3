/** What a case is: a request that its route answers well, and for each error that the route declares a request that meets it. */
import type { RouteDef } from '@quorumscan/api'
import type { World } from './world.ts'

/** Where it differs from what is usual for the route: `ask.ts` fills in method, path, base address and token. */
export type Input = {
  readonly params?: Readonly<Record<string, string | number>>
  readonly query?: Readonly<Record<string, string | number | boolean>>
  readonly headers?: Readonly<Record<string, string>>
  /** Parameters that go into the path as they are. */
  readonly rawParams?: Readonly<Record<string, string>>
  /** Bytes and texts go as they are, all else as JSON. */
  readonly body?: unknown
  /** Null: no token. Absent: that of a user, an administrator or a peer, as the route wants it. */
  readonly token?: string | null
  /** The base address, where it is another process than usual. */
  readonly url?: string
}

export type Build = (world: World) => Input | Promise<Input>

/** No request to a whole network meets it. */
export type Unreachable = {
  readonly unreachable: string
  /** The file of tests that shows it instead: its text names the code. */
  readonly testedBy?: string
}

export type Cause = Build | Unreachable

export type Case<ErrorName extends string | number> = {
  readonly success: Cause
  readonly errors: { readonly [Name in ErrorName]: Cause }
  /** For what every server adds (`added.ts`), where the usual way does not fit the route. */
  readonly added?: Readonly<Record<string, Cause>>
}

/** A case for each route of a table, and for each error that the route declares. */
export type CasesOf<Table extends Readonly<Record<string, Pick<RouteDef, 'errors'>>>> = {
  readonly [Id in keyof Table]: Case<Table[Id]['errors'][number]>
}

export const cannot = (unreachable: string, testedBy?: string): Unreachable => ({
  unreachable,
  ...(testedBy === undefined ? {} : { testedBy }),
})

export const isReachable = (way: Cause): way is Build => typeof way === 'function'

/** States of a process, of its disk, its clock or its neighbours that a whole network is not in. */
export const broken = {
  NOT_READY: cannot('a process that is starting', 'packages/server/src/lifecycle.test.ts'),
  LOG_REGRESSED: cannot(
    'a log that lost its end',
    'apps/synchronizer/src/synchronizer.integration.test.ts',
  ),
  SOFTWARE_OUTDATED: cannot('a newer protocol in force', 'test/e2e/upgrade.test.ts'),
  ORDERING_HALTED: cannot('engines that stopped', 'packages/cometbft/src/engine-state.test.ts'),
  STATE_DIVERGED: cannot(
    'a replica with another state',
    'apps/scan/src/certified.integration.test.ts',
  ),
  LOG_FORK: cannot('two histories', 'apps/validator/src/stopped-replica.integration.test.ts'),
  LOG_FULL: cannot('a full disk', 'test/e2e/full-disk.test.ts'),
  CLOCK_OFF: cannot(
    'a clock that is off',
    'apps/synchronizer/src/synchronizer.integration.test.ts',
  ),
  USERS_LOST: cannot('users that are gone', 'test/e2e/damage.test.ts'),
  DEPENDENCY_UNAVAILABLE: cannot('a Redis that is away', 'packages/server/src/lifecycle.test.ts'),
} as const
