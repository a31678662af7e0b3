/** Bounds of the ledger that are the same in all versions of the protocol, each with its unit and its reason. */

/** Nesting of the JSON of a submission (Rule 1). */
export const JSON_DEPTH_MAX = 32
/** Bytes of a log entry (Rule 1). */
export const ENTRY_BYTES_MAX = 256 * 1024
/** Payments in flight of one party, initial and renewing (D-17). */
export const PAYMENTS_IN_FLIGHT_MAX = 16
/** Open transfer offers that one party made (D-17). */
export const OPEN_OFFERS_MAX = 100
/** Inputs, and outputs, of one transfer: as upstream. */
export const TRANSFER_INPUTS_MAX = 100
export const TRANSFER_OUTPUTS_MAX = 100
/**
 * Parties that hold a lock. Payments have two. Each signs the coin and has it in its index: a later entry that
 * only names the coin costs every replica all of them.
 */
export const LOCK_HOLDERS_MAX = 16
/**
 * UTF-16 units of a free text on a transfer, a transfer offer or a lock: upstream's maxTextLength. A later entry that
 * only names the contract makes every replica read the text again.
 */
export const TRANSFER_TEXT_UNITS_MAX = 1024
/**
 * Coin of one tap or one reward, times 10^10: 10^12 coin. No sum of coin can leave the
 * range of Decimal then: it takes 10^14 entries of 100 taps.
 */
export const ISSUED_AMOUNT_MAX = 10n ** 22n
/** µs of record time between two addresses of one super-validator: replicas store each as a version. */
export const ADDRESS_INTERVAL_MICROS = 10_000_000
/**
 * µs of record time after which a version that governs entries also governs blocks. Each ordering member reads the
 * version from its operator's replica, which may lag by as much. A version is in force for at least this time.
 */
export const BLOCK_RULES_DELAY_MICROS = 600_000_000
/** Ticks that the lock of a payment lasts (D-22). */
export const PAYMENT_LOCK_TICKS = 3
/** Rounds that are open at any time (D-22). */
export const OPEN_ROUNDS = 3
