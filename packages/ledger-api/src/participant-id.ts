/** How the ledger interface names participants: Canton's unique identifier `<name>::<fingerprint>`. */

/** @param participant - `1220` and 64 hex digits, as after `::` of a party (D-30). */
export function participantIdOf(participant: string): string {
  return `participant::${participant}`
}
