/** Questions about names. An answer with another name or an expired entry is not an answer. */
import { entriesBytesMax } from '@quorumscan/reader'
import { formatInstant, parseInstant } from '@quorumscan/verifier'
import type { NameEntry } from '../names/lookups.ts'
import { isContractId } from '../platform/values.ts'
import { type JsonValue, membersOf, readAll, text, whole } from './exact-json.ts'
import { sortNames } from './network-questions.ts'
import { type Question, question } from './question.ts'

/** Live entries of a prefix, in order of the names. */
export type EntryList = {
  readonly entries: readonly NameEntry[]
  /** False: there may be more, which only a longer prefix returns. */
  readonly isComplete: boolean
}

/** One entry with all its texts, and members of newer versions. */
const ENTRY_BYTES_MAX = 64 * 1024

export function askName(name: string): Question<NameEntry> {
  return question<NameEntry>(
    {
      path: `/v0/ans-entries/by-name/${encodeURIComponent(name)}`,
      what: `the name ${name}`,
      bytesMax: ENTRY_BYTES_MAX,
      absence: `No ans entry found for name: ${name}`,
    },
    (body, nowMicros) => {
      const entry = readEntry(body['entry'])
      if (entry?.name !== name) return undefined
      // A scan whose clock lags still shows the entry. It counts like those that do not.
      return isLive(entry, nowMicros) ? entry : null
    },
  )
}

export function askParty(party: string): Question<NameEntry> {
  return question<NameEntry>(
    {
      path: `/v0/ans-entries/by-party/${encodeURIComponent(party)}`,
      what: `a name of ${party}`,
      bytesMax: ENTRY_BYTES_MAX,
      absence: `No ans entry found for party: ${party}`,
    },
    (body, nowMicros) => {
      const entry = readEntry(body['entry'])
      // The party may have another name, which this scan does not show until its clock has caught up.
      return entry?.party === party && isLive(entry, nowMicros) ? entry : undefined
    },
  )
}

export function askPrefix(prefix: string, pageSize: number): Question<EntryList> {
  return question<EntryList>(
    {
      path: `/v0/ans-entries?name_prefix=${encodeURIComponent(prefix)}&page_size=${pageSize}`,
      what: `names that begin with ${prefix}`,
      bytesMax: entriesBytesMax(2 * pageSize), // With room for members of newer versions.
    },
    (body, nowMicros) => {
      const all = readAll(body['entries'], readEntry)
      if (all === undefined || all.length > pageSize) return undefined
      if (!all.every(({ name }) => name.startsWith(prefix))) return undefined
      // Scans sort differently.
      const entries = sortNames(all.filter((entry) => isLive(entry, nowMicros)))
      return entries && { entries, isComplete: all.length < pageSize }
    },
  )
}

/** As upstream shows it: up to and including the time of its expiry. */
export function isLive({ expiresAt }: NameEntry, nowMicros: number): boolean {
  return expiresAt === null || (parseInstant(expiresAt) ?? 0) >= nowMicros
}

function readEntry(entry: JsonValue | undefined): NameEntry | undefined {
  const { name, user, url, description, contract_id = null, expires_at = null } = membersOf(entry)
  return whole<NameEntry>({
    name: text(name),
    party: text(user) || undefined,
    url: text(url),
    description: text(description),
    expiresAt: readInstant(expires_at),
    contractId: contract_id === null || isContractId(contract_id) ? contract_id : undefined,
  })
}

const INSTANT = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(\d{1,6}))?Z$/

/** Java writes up to six fractional digits. */
function readInstant(text: JsonValue): string | null | undefined {
  if (text === null) return null
  const [, seconds, fraction = ''] = INSTANT.exec(typeof text === 'string' ? text : '') ?? []
  const micros = parseInstant(`${seconds}.${fraction.padEnd(6, '0')}Z`)
  return micros === undefined ? undefined : formatInstant(micros)
}
