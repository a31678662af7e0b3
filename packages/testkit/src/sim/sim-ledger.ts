/** A minimal ledger of names, as a scan node serves it. Checkers compare answers with it. */
import { sha256, toHex, utf8 } from '@quorumscan/base'
import type { HistoryPoint, Lookup } from '@quorumscan/verifier'
import { formatInstant } from '@quorumscan/verifier'

/** `expiresAt` in µs of record time. */
export type SimEntry = {
  readonly contractId: string
  readonly user: string
  readonly name: string
  readonly url: string
  readonly description: string
  readonly expiresAt: number
}

type Version = { readonly entry: SimEntry; readonly from: number; to: number }

export type SimLedger = {
  head(): number
  /** Appends one offset: `put` adds or replaces entries, `remove` deletes the entries of names. */
  append(input: {
    readonly recordTime: number
    readonly put?: readonly SimEntry[]
    readonly remove?: readonly string[]
  }): void
  pointAt(offset: number): HistoryPoint
  /** The entry that is visible at an offset (D-9). For a party it is the one with the lowest name (D-12). */
  find(lookup: Lookup, offset: number): SimEntry | null
  /** All visible names with a prefix, in order. */
  list(prefix: string, offset: number): SimEntry[]
  /** A ledger with the same history so far, which diverges with the next append. */
  fork(): SimLedger
}

export function createSimLedger(options: {
  readonly genesisHash: string
  readonly recordTime: number
}): SimLedger {
  const start = { offset: 0, recordTime: options.recordTime, historyHash: options.genesisHash }
  return ledgerFrom([start], new Map())
}

function ledgerFrom(points: HistoryPoint[], versionsByName: Map<string, Version[]>): SimLedger {
  const pointAt = (offset: number): HistoryPoint => {
    const point = points[offset]
    if (point === undefined) throw new RangeError(`nothing at offset ${offset} yet`)
    return point
  }
  const visible = (name: string, offset: number): SimEntry | null => {
    const { recordTime } = pointAt(offset)
    const version = versionsByName
      .get(name)
      ?.find(({ from, to, entry }) => from <= offset && offset < to && entry.expiresAt > recordTime)
    return version?.entry ?? null
  }
  const list = (prefix: string, offset: number): SimEntry[] =>
    [...versionsByName.keys()]
      .filter((name) => name.startsWith(prefix))
      .sort()
      .flatMap((name) => visible(name, offset) ?? [])

  return {
    head: () => points.length - 1,
    pointAt,
    append({ recordTime, put = [], remove = [] }) {
      const offset = points.length
      const { historyHash } = pointAt(offset - 1)
      for (const name of [...remove, ...put.map((entry) => entry.name)])
        for (const version of versionsByName.get(name) ?? [])
          version.to = Math.min(version.to, offset)
      for (const entry of put) {
        const versions = versionsByName.get(entry.name) ?? []
        versionsByName.set(entry.name, [...versions, { entry, from: offset, to: Infinity }])
      }
      const content = JSON.stringify([historyHash, offset, recordTime, put, remove])
      points.push({ offset, recordTime, historyHash: toHex(sha256(utf8(content))) })
    },
    find: (lookup, offset) =>
      'name' in lookup
        ? visible(lookup.name, offset)
        : (list('', offset).find((entry) => entry.user === lookup.party) ?? null),
    list,
    fork: () =>
      ledgerFrom(
        [...points],
        new Map([...versionsByName].map(([name, all]) => [name, all.map((one) => ({ ...one }))])),
      ),
  }
}

/** The bytes of the answer to one lookup (D-8, D-10). */
export function simAnswer(entry: SimEntry | null): string {
  return JSON.stringify({ entry: entry === null ? null : entryToWire(entry) })
}

export function entryToWire(entry: SimEntry): object {
  return {
    contract_id: entry.contractId,
    user: entry.user,
    name: entry.name,
    url: entry.url,
    description: entry.description,
    expires_at: formatInstant(entry.expiresAt),
  }
}
