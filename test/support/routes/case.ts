/** A case: a request that succeeds, and for each error that the route declares a request that causes it. */
import type { RouteDef } from '@quorumscan/api'
import type { World } from './world.ts'

/** The parts of a request. `send-case.ts` fills in method, path, and the usual base address and token of the route. */
export type Input = {
  readonly params?: Readonly<Record<string, string | number>>
  readonly query?: Readonly<Record<string, string | number | boolean>>
  readonly headers?: Readonly<Record<string, string>>
  /** Path parameters that are not encoded. */
  readonly rawParams?: Readonly<Record<string, string>>
  /** Bytes and strings are sent unchanged, other values as JSON. */
  readonly body?: unknown
  /** Null: no token. Absent: the token of a user, an administrator or a peer, as the route requires. */
  readonly token?: string | null
  /** The base address. Default: the usual process of the surface. */
  readonly url?: string
}

export type Build = (world: World) => Input | Promise<Input>

/** No request to a healthy network causes it. */
export type Unreachable = {
  readonly unreachable: string
  /** The file that tests it instead. It contains the code. */
  readonly testedBy?: string
}

export type Cause = Build | Unreachable

export type Case<ErrorName extends string | number> = {
  readonly success: Cause
  readonly errors: { readonly [Name in ErrorName]: Cause }
  /** Causes of the added errors (`added.ts`), if the usual cause does not fit the route. */
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

/** Errors of states in which a healthy network is not. */
export const broken = {
  NOT_READY: cannot('a process that is starting', 'packages/server/src/lifecycle.test.ts'),
  LOG_REGRESSED: cannot(
    'a log that has lost its end',
    'apps/synchronizer/src/synchronizer.integration.test.ts',
  ),
  SOFTWARE_OUTDATED: cannot('a newer protocol in force', 'test/e2e/upgrade.test.ts'),
  ORDERING_HALTED: cannot('stopped engines', 'packages/cometbft/src/engine-state.test.ts'),
  STATE_DIVERGED: cannot(
    'a replica with another state',
    'apps/scan/src/certified.integration.test.ts',
  ),
  LOG_FORK: cannot('two histories', 'apps/validator/src/stopped-replica.integration.test.ts'),
  LOG_FULL: cannot('a full disk or memory', 'test/e2e/full-disk.test.ts'),
  CLOCK_OFF: cannot('a wrong clock', 'apps/synchronizer/src/synchronizer.integration.test.ts'),
  CERTIFICATE_EXPIRED: cannot(
    'an expired certificate',
    'packages/server/src/own-certificates.integration.test.ts',
  ),
  USERS_LOST: cannot('lost users', 'test/e2e/damage.test.ts'),
  DEPENDENCY_UNAVAILABLE: cannot('a Redis that is down', 'packages/server/src/lifecycle.test.ts'),
} as const
