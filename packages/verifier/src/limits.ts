/** Bounds that clients and nodes of the network share, each declared here alone. */

/** Of a name that an entry can have, in UTF-16 units, `.unverified.ns` included. */
export const ENTRY_NAME_LENGTH_MAX = 60
/** Of a name that may be asked for, in UTF-16 units. Longer than any that exists: such a lookup finds nothing. */
export const ASKED_NAME_LENGTH_MAX = 255
/** Lookups of one batch. */
export const BATCH_LOOKUPS_MAX = 256
/** Items of one page of a list. */
export const PAGE_SIZE_MAX = 1000
/** Of certified answers. */
export const CERTIFIED_MEDIA_TYPE = 'application/vnd.quorumscan.certified+json'
