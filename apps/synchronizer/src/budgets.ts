/**
 * How much each submitter may make the replicas work: three rate budgets in units of `unitsOfBytes` per second.
 *
 * | bucket | clients | units per second |
 * |---|---|---|
 * | operators | the operator key of each super-validator, which signs little else than confirmations | `QS_SV_ENTRY_RATE` |
 * | peers | each client with a token; the engine of each other member | `QS_PEER_ENTRY_RATE` |
 * | anonymous clients | each address without a token | `QS_STRANGER_ENTRY_RATE`, four times that together |
 *
 * Anonymous clients also share the bytes a day that their entries add to the state: those of one participant key
 * (`stateBytesPerDay` of the genesis), because the ledger counts each of their keys for itself.
 *
 * Keys cost nothing, so an anonymous client pays by its address. The budget of all anonymous clients is divided among the
 * addresses that use it. Many addresses make each share small, but none can use up another's share, nor a peer's budget.
 */
import { type Clock, held } from '@quorumscan/base'
import type { Rates } from '@quorumscan/config'
import { createRateBudget } from '@quorumscan/server'

type RateBudget = Pick<ReturnType<typeof createRateBudget>, 'spend' | 'charge' | 'settle'>

/** The number of anonymous addresses that are served at full rate at once. */
const ANONYMOUS_MAX = 4
const ALL = 'all'
const SECOND_MS = 1000
const DAY_SECONDS = 86_400
/** Addresses that each span remembers: beyond them a share is less than an entry costs, anyway. */
const SHARES_MAX = 10_000

/** The sender of an entry. */
export type Submitter = {
  /** Its address (IPv6: the /48, as a key costs nothing there either), or which peer it is. */
  readonly client: string
  readonly isPeer: boolean
}

/** Each function takes units. @throws {ScanError} RATE_LIMITED. */
export function createRateBudgets(options: {
  readonly rates: Rates
  /** What anonymous clients together may add to the state in a day. */
  readonly stateBytesPerDay: number
  readonly operatorKeys: ReadonlySet<string>
  readonly clock: Clock
}) {
  const { rates, stateBytesPerDay, operatorKeys, clock } = options
  const operators = createRateBudget({ unitsPerSecond: rates.superValidator, clock })
  const peers = createRateBudget({ unitsPerSecond: rates.peer, clock })
  const anonymous = createSharedRateBudget({
    clientsName: 'anonymous clients of a second',
    unitsOfAll: ANONYMOUS_MAX * rates.anonymous,
    clock,
  })
  const growth = createSharedRateBudget({
    clientsName: 'anonymous clients of a day',
    unitsOfAll: stateBytesPerDay / DAY_SECONDS,
    burstSeconds: DAY_SECONDS,
    clock,
  })
  const bucketOf = ({ isPeer }: Submitter): RateBudget => (isPeer ? peers : anonymous)
  return {
    /** Takes units from the submitter, before the entry is read. */
    spend: (submitter: Submitter, units: number) =>
      bucketOf(submitter).spend(submitter.client, units),
    /** Takes from the submitter what the entry costs beyond that. */
    charge: (submitter: Submitter, units: number) =>
      bucketOf(submitter).charge(submitter.client, units),
    /** Takes the bytes that the entry of an anonymous client adds to the state. One that adds none has always room. */
    chargeGrowth({ isPeer, client }: Submitter, bytes: number): void {
      if (!isPeer && bytes > 0) growth.charge(client, bytes)
    },
    /**
     * Takes what an entry has cost, afterwards: the submitter waits until it is paid. Of anonymous clients only the address
     * itself owes it, so that its debt is nobody else's.
     */
    settle: (submitter: Submitter, units: number) =>
      bucketOf(submitter).settle(submitter.client, units),
    /** Takes units from the key that signed the entry, if it is the operator key of a super-validator. */
    spendOfKey(publicKey: string, units: number): void {
      if (operatorKeys.has(publicKey)) operators.spend(publicKey, units)
    },
    /**
     * Takes units from the engine of another member, which sent a bundle. As `charge`.
     *
     * @param nodeId - Null: an unknown engine. All unknown engines use the budget of anonymous clients.
     */
    chargeSender(nodeId: string | null, units: number): void {
      if (nodeId === null) anonymous.chargeAll(units)
      else peers.charge(`engine ${nodeId}`, units)
    },
  }
}

export type RateBudgets = ReturnType<typeof createRateBudgets>

/**
 * A rate budget of all clients together, of which one has a quarter at most. Each client that used it in the current span
 * of `burstSeconds`, or in the one before, has an equal share.
 */
function createSharedRateBudget(options: {
  /** Of the clients of a span, as of `held`. */
  readonly clientsName: string
  readonly unitsOfAll: number
  /** As of `createRateBudget`. */
  readonly burstSeconds?: number
  readonly clock: Clock
}) {
  const { clientsName, unitsOfAll, burstSeconds = 1, clock } = options
  const spanMs = burstSeconds * SECOND_MS
  let spanBeganMs = clock.monotonicMs()
  let countBefore = 0
  const clients = held(
    { owner: 'synchronizer', name: clientsName, kind: 'state', bound: SHARES_MAX },
    new Set<string>(),
  )
  /** Counts a client that asks, served or not. */
  const recordUse = (client: string): void => {
    const elapsedMs = clock.monotonicMs() - spanBeganMs
    if (elapsedMs >= spanMs) {
      countBefore = elapsedMs < 2 * spanMs ? clients.size : 0
      clients.clear()
      spanBeganMs += elapsedMs
    }
    if (clients.size < SHARES_MAX) clients.add(client)
  }
  const share = () => unitsOfAll / Math.max(ANONYMOUS_MAX, countBefore, clients.size)
  const perClient = createRateBudget({ unitsPerSecond: share, burstSeconds, clock })
  const all = createRateBudget({ unitsPerSecond: unitsOfAll, burstSeconds, clock })
  const debit = (how: 'spend' | 'charge') => (client: string, units: number) => {
    recordUse(client)
    perClient[how](client, units)
    all[how](ALL, units)
  }
  return {
    spend: debit('spend'),
    charge: debit('charge'),
    settle: perClient.settle,
    chargeAll: (units: number) => all.charge(ALL, units),
  }
}
