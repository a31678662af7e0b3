'use client'
/** Names in React, on TanStack Query: what to show for a recipient, whether to believe it, and registration. */
export {
  type Trust,
  type UseNameOptions,
  type UseNameResult,
  type UseReverseResult,
  type UseSearchResult,
  useName,
  useReverse,
  useSearch,
} from './react/name-hooks.ts'
export {
  type UsePartyNameResult,
  type UsePartyOptions,
  type UsePartyResult,
  useParty,
  usePartyName,
} from './react/party-hooks.ts'
export { NamesProvider, type QueryOptions, type ReadOptions } from './react/reads.ts'
export {
  type RenewInput,
  type RenewStep,
  type UseRegisterResult,
  type UseRenewResult,
  type UseWriteOptions,
  type UseWriteResult,
  useRegister,
  useRenew,
} from './react/write-hooks.ts'
