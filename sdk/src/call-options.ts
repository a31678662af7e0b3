/**
 * What callers may pass in objects to the methods of clients: each option, and a check of its value. Clients load it with the
 * first call that has options. A new method, and a new option of one, does not compile without its row.
 */
import type { Activities } from './activities/activities.ts'
import type { Commands } from './ledger/commands.ts'
import type { Updates } from './ledger/updates.ts'
import type { Names } from './names/names-type.ts'
import type { Resolver } from './naming/resolver-type.ts'
import {
  anything,
  assertOptions,
  isArray,
  isBoolean,
  isFunction,
  isMs,
  isObject,
  isOneOf,
  isOr,
  isPort,
  isSignal,
  isText,
  isWhole,
  type OptionCheck,
  onlyWith,
} from './platform/options.ts'
import type { OwnNames } from './validator-options.ts'
import { CALL, PROGRESS } from './wallet/call-checks.ts'
import type { Payments } from './wallet/payments.ts'
import type { Wallet } from './wallet/wallet.ts'

/** A parameter that is no object of options. */
type Plain = string | number | boolean | readonly unknown[]
type ChecksOf<Options> = { readonly [Name in keyof Required<Options>]: OptionCheck }
type ParameterChecks<Parameters extends readonly unknown[]> = {
  readonly [Index in keyof Parameters]: Parameters[Index] extends Plain
    ? null
    : ChecksOf<Parameters[Index]>
}
/** The checks of each parameter of the methods; null: it has no options. */
type CallChecks<Part> = {
  readonly [Method in keyof Part]: Part[Method] extends (...input: infer Input) => unknown
    ? ParameterChecks<Required<Input>>
    : never
}

const LOOKUP = {
  ...CALL,
  threshold: anything, // The reader judges it, which knows the members: INVALID_QUORUM.
  minOffset: isWhole(0),
  maxAgeMs: isMs,
} as const
const PAGES = {
  ...LOOKUP,
  pageSize: anything, // `pageSizeOf` checks it.
} as const
const { minOffset: _, ...WATCH } = LOOKUP
const CHECKPOINT = onlyWith({ store: isPort('get', 'set'), key: isText })

const NAMES: CallChecks<Names> = {
  resolve: [null, { ...LOOKUP, acceptChange: isFunction }],
  reverse: [null, LOOKUP],
  metadata: [null, LOOKUP],
  registryUrls: [null, LOOKUP],
  lookup: [null, { ...LOOKUP, expectParty: isText, receipt: isBoolean }],
  resolveMany: [null, LOOKUP],
  reverseMany: [null, LOOKUP],
  search: [null, PAGES],
  namesOf: [null, PAGES],
  isAvailable: [null, LOOKUP],
  watch: [null, { ...WATCH, expectParty: isText, pollMs: isMs, onStart: isFunction }],
  acceptChange: [null, null],
}

const REGISTER_INPUT = {
  // They are checked as parts of an entry, with their own errors.
  name: anything,
  url: anything,
  description: anything,
  metadata: anything,
  autoRenew: isBoolean,
} as const
const RENEW = { ...PROGRESS, after: isText } as const

const OWN_NAMES: CallChecks<Omit<OwnNames, keyof Names>> = {
  list: [CALL],
  register: [REGISTER_INPUT, PROGRESS],
  renew: [null, RENEW],
  cancel: [null, CALL],
  setAutoRenew: [null, null, CALL],
}

const LIST = { ...CALL, order: isOneOf(['newest', 'amount']), limit: isWhole(0) } as const
const TAP = { usd: isText, commandId: isText } as const

const WALLET: CallChecks<Wallet> = {
  party: [CALL],
  status: [CALL],
  balance: [CALL],
  coins: [LIST],
  tap: [{ ...CALL, ...TAP }],
  transactions: [{ ...CALL, pageSize: isWhole(1) }],
  subscriptionRequests: [CALL],
  subscriptionRequest: [null, CALL],
  acceptSubscriptionRequest: [null, { ...CALL, autoRenew: isBoolean }],
  rejectSubscriptionRequest: [null, CALL],
  initialPayments: [CALL],
  subscriptions: [CALL],
  cancelSubscription: [null, CALL],
  setAutoRenew: [null, null, CALL],
  paySubscription: [null, CALL],
  transfers: [{ ...LIST, sender: isText }],
}

const TRANSFER = {
  receiver: anything, // `parseParty` checks it.
  coin: isText,
  expiresAt: isText,
  trackingId: isText,
  description: isText,
} as const

const PAYMENTS: CallChecks<Payments> = {
  transfer: [TRANSFER, PROGRESS],
  acceptTransfer: [null, PROGRESS],
  rejectTransfer: [null, PROGRESS],
  withdrawTransfer: [null, PROGRESS],
  tap: [TAP, PROGRESS],
  register: [REGISTER_INPUT, PROGRESS],
  renew: [null, RENEW],
  unfinished: [CALL],
}

const READS: CallChecks<{ activities: Activities; readFrom(offset: number): unknown }> = {
  activities: [
    {
      ...PAGES,
      order: isOneOf(['asc', 'desc']),
      after: isText,
      follow: isBoolean,
      pollMs: isMs,
      checkpoint: CHECKPOINT,
    },
  ],
  readFrom: [null],
}

const LEDGER: CallChecks<{ updates: Updates } & Commands> = {
  updates: [
    {
      parties: isArray,
      updateFormat: isObject, // Of the ledger interface, which judges it.
      after: isWhole(0),
      follow: isBoolean,
      pageSize: anything, // `pageSizeOf` checks it.
      checkpoint: CHECKPOINT,
      signal: isSignal,
    },
  ],
  submit: [
    {
      // The ledger interface judges the values.
      commands: anything,
      commandId: isText,
      submissionId: anything,
      actAs: isArray,
      readAs: anything,
      userId: anything,
      workflowId: anything,
      deduplicationPeriod: anything,
      minLedgerTimeAbs: anything,
      minLedgerTimeRel: anything,
      disclosedContracts: anything,
      synchronizerId: anything,
      packageIdSelectionPreference: anything,
      prefetchContractKeys: anything,
      tapsMaxPasses: anything,
    },
    CALL,
  ],
}

const RESOLVER: CallChecks<Resolver> = {
  resolve: [null, { ...CALL, acceptChange: isOr(isFunction, true) }],
  reverse: [null, CALL],
  watch: [null, { signal: isSignal, maxAgeMs: isMs, pollMs: isMs, onStart: isFunction }],
  acceptChange: [null, null],
}

/** By the part of a client. */
export const CALLS = {
  names: NAMES,
  ownNames: OWN_NAMES,
  wallet: WALLET,
  payments: PAYMENTS,
  reads: READS,
  ledger: LEDGER,
  resolver: RESOLVER,
} as const

/**
 * Checks the options of a call.
 *
 * @throws {QuorumscanError} INVALID_ARGUMENT.
 */
export function assertCall(
  client: keyof typeof CALLS,
  method: string,
  input: readonly unknown[],
): void {
  const methods: Readonly<Record<string, readonly (object | null)[]>> = CALLS[client]
  for (const [index, checks] of (methods[method] ?? []).entries()) {
    const options = input[index]
    if (checks !== null && options !== undefined) assertOptions(method, options as object, checks)
  }
}
