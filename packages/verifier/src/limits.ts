/** Bounds that clients and nodes of the network share, each declared here alone. */

/** The longest name of an entry, in UTF-16 units, `.unverified.ns` included. */
export const ENTRY_NAME_LENGTH_MAX = 60
/** The longest name of a lookup, in UTF-16 units. No entry has such a long name. */
export const ASKED_NAME_LENGTH_MAX = 255
/** The most lookups of one batch. */
export const BATCH_LOOKUPS_MAX = 256
/** The most items of one page of a list. */
export const PAGE_SIZE_MAX = 1000
/** The media type of certified answers. */
export const CERTIFIED_MEDIA_TYPE = 'application/vnd.quorumscan.certified+json'
/** The longest time from now to the expiry of a transfer: 30 days, in µs. Validators keep its id a day longer (D-83). */
export const PAYMENT_EXPIRY_MICROS_MAX = 30 * 86_400_000_000
