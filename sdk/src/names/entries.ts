/** Entries as the nodes send them, and as callers get them. */
import type { Decided } from '@quorumscan/consensus'
import type { NameEntry } from './lookups.ts'

export type WireEntry = {
  readonly name: string
  readonly user: string
  readonly url: string
  readonly description: string
  readonly expires_at: string | null
  readonly contract_id: string | null
}

/** The agreed answer as a value. */
export function jsonOf(outcome: Decided): unknown {
  return JSON.parse(new TextDecoder().decode(outcome.answer))
}

/** The entry of a lookup's answer; null for absence. */
export function entryOf(outcome: Decided): NameEntry | null {
  // The source checked the shape of what the nodes agreed on.
  const { entry } = jsonOf(outcome) as { entry: WireEntry | null }
  return entry === null ? null : toEntry(entry)
}

export function toEntry(entry: WireEntry): NameEntry {
  return {
    name: entry.name,
    party: entry.user,
    url: entry.url,
    description: entry.description,
    expiresAt: entry.expires_at,
    contractId: entry.contract_id,
  }
}
