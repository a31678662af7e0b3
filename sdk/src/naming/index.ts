/**
 * `@quorumscan/sdk/naming`: party names as the network is standardising them. This module and
 * `packages/verifier/src/names/qualified-name.ts` know the draft "Canton Party Name Resolution Standard" (2026-08-29); each
 * fact of it is cited where it is used.
 */
export type { Fqpn, NetworkName } from '@quorumscan/verifier'
export type { Basis } from '../names/lookup-types.ts'
export { displayParty } from './display.ts'
export { formatFqpn, parseFqpn } from './fqpn.ts'
export { httpResolver } from './http-resolver.ts'
export {
  type PartyResolver,
  type PartyResolverOptions,
  type ResolverAnswer,
  type ResolverRead,
  scanNames,
} from './party-resolver.ts'
export { createResolver } from './resolver.ts'
export type * from './resolver-type.ts'
export type { Candidate, Resolution, ResolverFailure } from './results.ts'
export type { ResolverWatchOptions } from './watch-resolution.ts'
