'use client'
/** Names in React, on TanStack Query: what to show for a recipient, whether to believe it, and registration. */
export type * from './react/name-hooks.ts'
export { useName, useReverse, useSearch } from './react/name-hooks.ts'
export type * from './react/party-hooks.ts'
export { useParty, usePartyName } from './react/party-hooks.ts'
export { NamesProvider, type QueryOptions, type ReadOptions } from './react/reads.ts'
export type * from './react/write-hooks.ts'
export { useRegister, useRenew } from './react/write-hooks.ts'
