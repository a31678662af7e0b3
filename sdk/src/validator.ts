/** The client of a validator: lookups through its scan proxy, names of the user, wallet, and ledger. */
import type { Activities } from './activities/activities.ts'
import { cryptoUnavailable, invalidArgument } from './errors.ts'
import { assertGenesisPin, isGenesisHash } from './genesis-pin.ts'
import type { Commands } from './ledger/commands.ts'
import type { Updates } from './ledger/updates.ts'
import type { Lookups } from './names/lookups.ts'
import { LOOKUPS } from './names/methods.ts'
import { READS_CHECKS } from './names/reads-options.ts'
import { createStored, type Stored } from './names/write-floor.ts'
import type { Writer } from './names/writer.ts'
import { systemClock } from './platform/clock.ts'
import { hasPlatformCrypto } from './platform/has-crypto.ts'
import { judgeOf } from './platform/judged.ts'
import { lazily, loadPart, once } from './platform/load-part.ts'
import { loadStore } from './platform/load-store.ts'
import { anything, assertOptions, isFunction, isOr } from './platform/options.ts'
import { URL_IN_KEY_MAX } from './platform/store-key.ts'
import { assertUrl } from './platform/urls.ts'
import {
  ACTIVITIES,
  BALANCE,
  COMMANDS,
  OWN_NAMES,
  PAYMENTS,
  STREAMS,
  WALLET,
} from './validator-methods.ts'
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
  const pinned = isGenesisHash(genesis) ? genesis : null
  const stored = once(async (): Promise<Stored> => {
    const store = await loadStore(options, clock)
    return createStored(store, clock, async () => pinned ?? (await lookups()).reads.genesisHash())
  })
  const lookups = once(async (): Promise<Lookups> => {
    const loading = loadPart(() => import('./names/lookups.ts'))
    const [own, { createLookups, loadProxyReader }] = await Promise.all([stored(), loading])
    return createLookups({
      client: options,
      clock,
      basis: genesis === undefined ? 'proxy' : 'proof',
      // The network of a trusted proxy is not verified.
      network: genesis === undefined ? encodedUrl : pinned,
      stored: own,
      async open(shared, { extras }) {
        const [{ openProxyReader }, { http }] = await Promise.all([loadProxyReader(), parts()])
        const pin = genesis === undefined ? null : { genesis, crypto: options.crypto }
        return openProxyReader({ http, url, clock, shared, pin, extras })
      },
    })
  })
  const parts = once(async (): Promise<ValidatorParts> => {
    const loading = loadPart(() => import('./validator-parts.ts'))
    const [own, { createValidatorParts }] = await Promise.all([stored(), loading])
    return createValidatorParts({ ...options, url, ledgerUrl, clock }, own, lookups)
  })
  const payments = async () => (await parts()).payments()
  const ledger = async () => (await parts()).ledger()
  const ofWallet = judgeOf('wallet')
  const activities = async () => ({ activities: await (await parts()).activities() })
  return {
    names: {
      ...lazily(async () => (await lookups()).names, LOOKUPS, judgeOf('names')),
      ...lazily(async () => (await payments()).names, OWN_NAMES, judgeOf('ownNames')),
    },
    wallet: {
      ...lazily<Omit<Wallet, 'balance'>>(async () => (await parts()).wallet(), WALLET, ofWallet),
      ...lazily<Pick<Wallet, 'balance'>>(parts, BALANCE, ofWallet),
    },
    payments: lazily(async () => (await payments()).payments, PAYMENTS, judgeOf('payments')),
    writtenOffset: async () => (await stored()).writeFloor.offset(),
    ...lazily<Pick<Validator, 'activities'>>(activities, ACTIVITIES, judgeOf('reads')),
    ...lazily<Pick<Validator, 'updates'>>(ledger, STREAMS, judgeOf('ledger')),
    commands: lazily(async () => (await ledger()).commands, COMMANDS, judgeOf('ledger')),
  }
}
