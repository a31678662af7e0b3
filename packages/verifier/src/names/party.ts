/** `<hint>::1220<64 hex digits>` (D-30), the form of a party. */
export const PARTY = /^[A-Za-z0-9_-]{1,185}::1220[0-9a-f]{64}$/
