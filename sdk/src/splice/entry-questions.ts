/** Questions about names, and which answers are none: another name, or an entry that has expired. */
import { entriesBytesMax } from '@quorumscan/reader'
import { formatInstant, parseInstant } from '@quorumscan/verifier'
import type { NameEntry } from '../names/lookups.ts'
import { isContractId } from '../platform/contract-id.ts'
import { isObject, type JsonValue } from './exact-json.ts'
import { sortNames } from './network-questions.ts'
import { get, type Question } from './question.ts'

/** Live entries of a prefix, in order of the name. */
export type EntryList = {
  readonly entries: readonly NameEntry[]
  /** False: there may be more, for which there is no way to ask but with a longer prefix. */
  readonly isComplete: boolean
}

/** One entry with all its texts, and whatever newer versions add. */
const ENTRY_BYTES_MAX = 64 * 1024

export function askName(name: string): Question<NameEntry> {
  return {
    ...get(
      `/v0/ans-entries/by-name/${encodeURIComponent(name)}`,
      `the name ${name}`,
      ENTRY_BYTES_MAX,
    ),
    absence: `No ans entry found for name: ${name}`,
    read(body, nowMicros) {
      const entry = isObject(body) ? readEntry(body['entry']) : undefined
      if (entry === undefined || entry.name !== name) return undefined
      // Whose clock is behind still shows it; it says the same as those who do not.
      return isLive(entry, nowMicros) ? entry : null
    },
  }
}

export function askParty(party: string): Question<NameEntry> {
  return {
    ...get(
      `/v0/ans-entries/by-party/${encodeURIComponent(party)}`,
      `a name of ${party}`,
      ENTRY_BYTES_MAX,
    ),
    absence: `No ans entry found for party: ${party}`,
    read(body, nowMicros) {
      const entry = isObject(body) ? readEntry(body['entry']) : undefined
      if (entry === undefined || entry.party !== party) return undefined
      // The party may have another name, which this scan does not tell before its clock is there too.
      return isLive(entry, nowMicros) ? entry : undefined
    },
  }
}

export function askPrefix(prefix: string, pageSize: number): Question<EntryList> {
  const bytesMax = entriesBytesMax(2 * pageSize) // With room for what newer versions add.
  const query = `name_prefix=${encodeURIComponent(prefix)}&page_size=${pageSize}`
  return {
    ...get(`/v0/ans-entries?${query}`, `names that begin with ${prefix}`, bytesMax),
    read(body, nowMicros) {
      const rows = isObject(body) ? body['entries'] : undefined
      if (!Array.isArray(rows) || rows.length > pageSize) return undefined
      const entries: NameEntry[] = []
      for (const row of rows as readonly JsonValue[]) {
        const entry = readEntry(row)
        if (entry === undefined || !entry.name.startsWith(prefix)) return undefined
        if (isLive(entry, nowMicros)) entries.push(entry)
      }
      // Scans differ in how they sort.
      const sorted = sortNames(entries)
      return sorted && { entries: sorted, isComplete: rows.length < pageSize }
    },
  }
}

/** As upstream shows it: up to and with the moment of its expiry. */
export function isLive({ expiresAt }: NameEntry, nowMicros: number): boolean {
  return expiresAt === null || (parseInstant(expiresAt) ?? 0) >= nowMicros
}

function readEntry(entry: JsonValue | undefined): NameEntry | undefined {
  if (!isObject(entry)) return undefined
  const { name, user, url, description } = entry
  const contractId = entry['contract_id'] ?? null
  const expiresAt = readInstant(entry['expires_at'] ?? null)
  if (typeof name !== 'string' || typeof user !== 'string' || user === '') return undefined
  if (typeof url !== 'string' || typeof description !== 'string') return undefined
  if (contractId !== null && !isContractId(contractId)) return undefined
  if (expiresAt === undefined) return undefined
  return { name, party: user, url, description, expiresAt, contractId }
}

const INSTANT = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(\d{1,6}))?Z$/

/** With six fractional digits, of which Java writes only as many as are needed. */
function readInstant(text: JsonValue): string | null | undefined {
  if (text === null) return null
  const [, seconds, fraction = ''] = INSTANT.exec(typeof text === 'string' ? text : '') ?? []
  const micros = parseInstant(`${seconds}.${fraction.padEnd(6, '0')}Z`)
  return micros === undefined ? undefined : formatInstant(micros)
}
