/** The client of a validator: lookups through its scan proxy, names of the user, wallet, and ledger. */
import type { Activities } from './activities/activities.ts'
import { cryptoUnavailable, invalidArgument } from './errors.ts'
import { assertGenesisPin, isGenesisHash } from './genesis-pin.ts'
import type { Commands } from './ledger/commands.ts'
import type { Updates } from './ledger/updates.ts'
import { READS_CHECKS } from './names/bounded.ts'
import type { Lookups } from './names/lookups.ts'
import { LOOKUPS } from './names/methods.ts'
import type { Writer } from './names/writer.ts'
import { systemClock } from './platform/clock.ts'
import { hasPlatformCrypto } from './platform/has-crypto.ts'
import { lazily, loadPart } from './platform/load-part.ts'
import { anything, assertOptions, isFunction, isOr } from './platform/options.ts'
import { URL_IN_KEY_MAX } from './platform/store.ts'
import { assertUrl } from './platform/urls.ts'
import type { OwnNames, ValidatorOptions } from './validator-options.ts'
import type { ValidatorParts } from './validator-parts.ts'
import type { Payments } from './wallet/payments.ts'
import type { Wallet } from './wallet/wallet.ts'

/** A client of a validator, for the token's user. It keeps no connection open, so there is no `close`. */
export interface Validator extends Writer {
  readonly names: OwnNames
  /** Coin and subscriptions. */
  readonly wallet: Wallet
  /** Transfers, answers to offers, and taps: each happens at most once. */
  readonly payments: Payments
  /** Coin activities in ledger order, through the scan proxy. */
  readonly activities: Activities
  /** Ledger updates that the user may see. */
  readonly updates: Updates
  /** Ledger commands, each with at most one effect. */
  readonly commands: Commands
}

/**
 * Creates a client of a validator. It sends nothing, and loads most of its code, with the first call.
 *
 * The first lookup checks a genesis document, and throws INVALID_ARGUMENT if it is invalid.
 *
 * @example const validator = createValidator({ url: 'https://validator.example.com/api/validator', token: getToken })
 * @throws {QuorumscanError} INVALID_ARGUMENT if url or genesis hash are invalid, CRYPTO_UNAVAILABLE.
 */
export function createValidator(options: ValidatorOptions): Validator {
  assertOptions<ValidatorOptions>('createValidator', options, {
    ...READS_CHECKS,
    url: anything,
    ledgerUrl: anything,
    token: anything,
    genesis: anything,
    WebSocket: isOr(isFunction, null),
    random: isFunction,
  })
  const { clock = systemClock, genesis } = options
  assertUrl('url', options.url)
  if (options.ledgerUrl !== undefined) assertUrl('ledgerUrl', options.ledgerUrl)
  const url = options.url.replace(/\/+$/, '')
  const ledgerUrl = (options.ledgerUrl ?? url.replace(/\/api\/validator$/, '')).replace(/\/+$/, '')
  if (genesis !== undefined) {
    assertGenesisPin(genesis)
    if (options.crypto === undefined && !hasPlatformCrypto()) throw cryptoUnavailable()
  }
  const encodedUrl = encodeURIComponent(url)
  if (genesis === undefined && options.store !== undefined && encodedUrl.length > URL_IN_KEY_MAX)
    throw invalidArgument(
      `\`url\` has more than ${URL_IN_KEY_MAX} characters once it is encoded, too many for keys of \`store\`. Pass \`genesis\`.`,
    )
  let made: Lookups | undefined
  /** Without the code of the other parts, so that `createScan` loads the write floor alone. */
  const lookups = async (): Promise<Lookups> => {
    if (made !== undefined) return made
    const { createLookups } = await loadPart(() => import('./names/lookups.ts'))
    made ??= createLookups({
      client: options,
      clock,
      basis: genesis === undefined ? 'proxy' : 'proof',
      // The network of a trusted proxy is not verified.
      network: genesis === undefined ? encodedUrl : isGenesisHash(genesis) ? genesis : null,
      open: async (shared) => (await parts()).openReader(shared),
      extras: () => loadPart(() => import('./scan-extras.ts')),
    })
    return made
  }
  let madeParts: ValidatorParts | undefined
  const parts = async (): Promise<ValidatorParts> => {
    if (madeParts !== undefined) return madeParts
    const loading = loadPart(() => import('./validator-parts.ts'))
    const [shared, { createValidatorParts }] = await Promise.all([lookups(), loading])
    madeParts ??= createValidatorParts({ ...options, url, ledgerUrl, clock }, shared)
    return madeParts
  }
  return {
    names: lazily(async () => (await parts()).names, NAMES),
    wallet: lazily(async () => (await parts()).wallet, WALLET),
    payments: lazily(async () => (await parts()).payments, PAYMENTS),
    writtenOffset: async () => (await lookups()).reads.writeFloor.offset(),
    ...lazily<Pick<Validator, 'activities' | 'updates'>>(parts, STREAMS),
    commands: lazily(async () => (await parts()).commands, COMMANDS),
  }
}

const NAMES: Readonly<Record<keyof OwnNames, boolean>> = {
  ...LOOKUPS,
  list: false,
  register: false,
  renew: false,
  cancel: false,
  setAutoRenew: false,
}
const STREAMS = { activities: true, updates: true }
const COMMANDS = { submit: false }
const PAYMENTS = {
  transfer: false,
  acceptTransfer: false,
  rejectTransfer: false,
  withdrawTransfer: false,
  tap: false,
  register: false,
  renew: false,
  unfinished: false,
}
const WALLET = {
  register: false,
  status: false,
  balance: false,
  coins: false,
  tap: false,
  transactions: true,
  subscriptionRequests: false,
  subscriptionRequest: false,
  acceptSubscriptionRequest: false,
  rejectSubscriptionRequest: false,
  initialPayments: false,
  subscriptions: false,
  cancelSubscription: false,
  setAutoRenew: false,
  paySubscription: false,
  transfers: false,
}
