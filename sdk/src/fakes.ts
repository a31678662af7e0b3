/**
 * Names without processes, for the tests of an application: `@quorumscan/sdk/testing/fakes`. They run the code of the
 * real client over entries in memory, so that outcomes, errors and the memory of owners are the real ones.
 */
import { formatInstant, type Lookup } from '@quorumscan/verifier'
import type { CertifiedEntry, CertifiedPage } from '@quorumscan/verifier/certified'
import { type ErrorCode, invalidArgument, transient } from './errors.ts'
import type { Answered, EntriesPage, ReadsOptions, Unanswered } from './names/bounded.ts'
import type { Metadata } from './names/lookup-types.ts'
import { formatMetadata } from './names/metadata.ts'
import { normalizeName } from './names/name-rules.ts'
import { createNames } from './names/names.ts'
import type { Names } from './names/names-type.ts'
import { parseName } from './names/parse-name.ts'
import { createReads } from './names/reads.ts'
import { systemClock } from './platform/clock.ts'
import { parseParty } from './platform/values.ts'
import * as scanExtras from './scan-extras.ts'

/** Names that a test controls. Changes take effect for the next read; `watch` sees them at its next poll. */
export type FakeNames = Names & {
  /** Registers a name, or gives it to another party. @throws {QuorumscanError} INVALID_NAME, INVALID_PARTY. */
  changeOwner(name: string, party: string): void
  /** Sets what the party of a name states about itself. @throws {QuorumscanError} INVALID_DESCRIPTION. */
  setMetadata(name: string, metadata: Metadata): void
  /** Removes an entry now, as nodes do after it has expired: the name is absent. */
  remove(name: string): void
  /** Lets an entry end by the clock of the device before nodes removed it: `expired`, and NAME_EXPIRED. */
  expire(name: string): void
  /**
   * From now on no read is answered. CONSENSUS_DISPUTED, CONSENSUS_LAGGING and NOT_ENOUGH_NODES are outcomes of `lookup`
   * and errors of `resolve`, as they really are; every other code is thrown by both. `null`: reads are answered again.
   */
  fail(code: ErrorCode | null): void
}

const [NODES, THRESHOLD] = [['sv-1', 'sv-2', 'sv-3', 'sv-4'], 2]
/** Longer than a short deadline leaves, so that a failing read ends at once with it. */
const RETRY_AFTER_MS = 250
const YEAR_MICROS = 365 * 86_400_000_000

/**
 * @param parties - Name to party, names as people type them.
 * @example
 * const names = fakeNames({ alice: party })
 * names.changeOwner('alice', other)
 * @throws {QuorumscanError} INVALID_NAME, INVALID_PARTY.
 */
export function fakeNames(
  parties: Readonly<Record<string, string>> = {},
  options: Pick<ReadsOptions, 'clock' | 'store' | 'seenNamesMax' | 'onChanged' | 'timeoutMs'> = {},
): FakeNames {
  const { clock = systemClock } = options
  const entries = new Map<string, CertifiedEntry>()
  let offset = 1
  let failing: ErrorCode | null = null

  const put = (typed: string, party: string, expiresMicros: number, description = ''): void => {
    const { name } = parseName(typed)
    offset++
    entries.set(name, {
      name,
      user: parseParty(party),
      url: '',
      description,
      expires_at: formatInstant(expiresMicros),
      contract_id: `00${offset.toString(16).padStart(64, '0')}`,
    })
  }
  for (const [name, party] of Object.entries(parties))
    put(name, party, clock.nowMicros() + YEAR_MICROS)

  const sorted = () => [...entries.values()].sort((one, other) => (one.name < other.name ? -1 : 1))
  const find = (lookup: Lookup): CertifiedEntry | null =>
    'name' in lookup
      ? (entries.get(lookup.name) ?? null)
      : (sorted().find(({ user }) => user === lookup.party) ?? null)

  const answered = <T>(answer: T): Answered<T> | Unanswered => {
    const nodes = {
      threshold: THRESHOLD,
      nodeCount: NODES.length,
      trust: null,
      dissented: [],
      clockSkewMs: null,
    }
    const agreed = NODES.slice(0, THRESHOLD)
    const none = { ...nodes, answered: 1, agreed: [], retryAfterMs: RETRY_AFTER_MS }
    switch (failing) {
      case null: {
        const kind = answer === null ? 'verified-absent' : 'verified'
        const recordTime = clock.nowMicros()
        // Callers get null, as for a lookup without a receipt: nothing proves a fake.
        const proof = { receipt: null as never, historyHash: '' }
        return { ...nodes, answered: 1, kind, answer, offset, recordTime, agreed, ...proof }
      }
      case 'CONSENSUS_DISPUTED':
        return { ...none, kind: 'disputed', reason: 'fork', groups: [] }
      case 'CONSENSUS_LAGGING': {
        const lag = { wantedOffset: offset, headOffset: offset, ageMs: 0 }
        return { ...none, kind: 'lagging', reason: 'not-reached', ...lag }
      }
      case 'NOT_ENOUGH_NODES': {
        const lack = { reachable: 1, needed: THRESHOLD, retryAfterMs: null, unproven: null }
        return { ...none, kind: 'insufficient', ...lack }
      }
      default:
        throw transient(failing, 'The test made this read fail.')
    }
  }

  const page = async ({ subject, pageSize, after }: EntriesPage) => {
    const isOf = ({ name, user }: CertifiedEntry) =>
      subject.kind === 'prefix' ? name.startsWith(subject.prefix) : user === subject.party
    const rest = sorted().filter((entry) => isOf(entry) && (after === null || entry.name > after))
    const shown = rest.slice(0, pageSize)
    const next_page_token = rest.length > pageSize ? (shown.at(-1)?.name ?? null) : null
    return answered<CertifiedPage>({ entries: shown, next_page_token })
  }

  const reads = createReads({
    client: options,
    clock,
    basis: 'proof',
    network: 'fake',
    open: async () => {
      throw invalidArgument('Fakes have names only.')
    },
    extras: async () => scanExtras,
  })
  const lookup = async (lookups: readonly Lookup[]) => lookups.map((one) => answered(find(one)))
  const known = (typed: string): CertifiedEntry => {
    const entry = entries.get(normalizeName(typed))
    if (entry !== undefined) return entry
    throw invalidArgument(`${typed} has no entry: pass it to fakeNames, or call changeOwner.`)
  }
  return {
    ...createNames({ ...reads, lookup, page } as typeof reads, options),
    changeOwner: (name, party) => put(name, party, clock.nowMicros() + YEAR_MICROS),
    setMetadata(name, metadata) {
      const { user } = known(name)
      put(name, user, clock.nowMicros() + YEAR_MICROS, formatMetadata(metadata))
    },
    remove(name) {
      entries.delete(known(name).name)
      offset++
    },
    expire: (name) => put(name, known(name).user, clock.nowMicros()),
    fail(code) {
      failing = code
    },
  }
}
