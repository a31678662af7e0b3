/**
 * Names without processes, for the tests of an application: `@quorumscan/sdk/testing/fakes`. They run the code of the
 * real client over entries in memory, so that outcomes, errors and the memory of owners are the real ones.
 */
import { formatInstant, type Lookup } from '@quorumscan/verifier'
import type { CertifiedEntry, CertifiedPage } from '@quorumscan/verifier/certified'
import { assertCall, type CALLS } from './call-options.ts'
import { type ErrorCode, invalidArgument, transient } from './errors.ts'
import { isErrorCode } from './known-errors.ts'
import type { Answered, EntriesPage, Unanswered } from './names/bounded.ts'
import type { Metadata } from './names/lookup-types.ts'
import * as manyLookups from './names/many-lookups.ts'
import { formatMetadata } from './names/metadata.ts'
import { LOOKUPS } from './names/methods.ts'
import { normalizeName } from './names/name-rules.ts'
import { createNames } from './names/names.ts'
import type { Names } from './names/names-type.ts'
import * as otherLookups from './names/other-lookups.ts'
import { parseName } from './names/parse-name.ts'
import { createReads } from './names/reads.ts'
import { READS_CHECKS, type ReadsOptions } from './names/reads-options.ts'
import { createStored } from './names/write-floor.ts'
import { systemClock } from './platform/clock.ts'
import { type Judge, lazily } from './platform/load-part.ts'
import { assertOptions } from './platform/options.ts'
import { parseParty } from './platform/parse-party.ts'
import { createSharedStore } from './platform/shared-store.ts'
import { shownValue } from './platform/shown-value.ts'
import { hasEnded } from './platform/times.ts'
import * as scanExtras from './scan-extras.ts'
import * as scanLists from './scan-lists.ts'

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
 * @throws {QuorumscanError} INVALID_NAME, INVALID_PARTY, INVALID_ARGUMENT.
 */
export function fakeNames(
  parties: Readonly<Record<string, string>> = {},
  options: FakeOptions = {},
): FakeNames {
  assertOptions('fakeNames', options, FAKE_CHECKS)
  const { names } = createFakeNames(parties, options)
  return { ...names, ...lazily<Names>(async () => names, LOOKUPS, judgeOfFake('names')) }
}

/** The judge of options, whose code is not loaded late: fakes answer at once, also under fake timers. */
export function judgeOfFake(client: keyof typeof CALLS): Judge {
  return (method, input) => assertCall(client, method, input)
}

/** Options of fakes, which are checked as those of a real client. */
type FakeOptions = Pick<
  ReadsOptions,
  'clock' | 'store' | 'seenNamesMax' | 'onChanged' | 'timeoutMs'
>
const FAKE_CHECKS = {
  clock: READS_CHECKS.clock,
  store: READS_CHECKS.store,
  seenNamesMax: READS_CHECKS.seenNamesMax,
  onChanged: READS_CHECKS.onChanged,
  timeoutMs: READS_CHECKS.timeoutMs,
} as const

/** The names, the reads that they share with a fake wallet, and what registers an entry. */
export function createFakeNames(parties: Readonly<Record<string, string>>, options: FakeOptions) {
  if (typeof parties !== 'object' || parties === null)
    throw invalidArgument(`The names must be an object, not ${shownValue(parties)}.`)
  const { clock = systemClock, store = null } = options
  const entries = new Map<string, CertifiedEntry>()
  const head = { offset: 1 }
  let failing: ErrorCode | null = null

  const put = (
    typed: string,
    party: string,
    { expiresMicros = clock.nowMicros() + YEAR_MICROS, url = '', description = '' } = {},
  ): void => {
    const { name } = parseName(typed)
    head.offset++
    entries.set(name, {
      name,
      user: parseParty(party),
      url,
      description,
      expires_at: formatInstant(expiresMicros),
      contract_id: `00${head.offset.toString(16).padStart(64, '0')}`,
    })
  }
  for (const [name, party] of Object.entries(parties)) put(name, party)

  const sorted = () => [...entries.values()].sort((one, other) => (one.name < other.name ? -1 : 1))
  const find = (lookup: Lookup): CertifiedEntry | null =>
    'name' in lookup
      ? (entries.get(lookup.name) ?? null)
      : (sorted().find(({ user }) => user === lookup.party) ?? null)

  const answered = <T>(answer: T): Answered<T> | Unanswered => {
    const { offset } = head
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
    stored: createStored(store && createSharedStore(store, clock), clock, async () => 'fake'),
    open: async () => {
      throw invalidArgument('Fakes have names only.')
    },
    later: {
      extras: async () => scanExtras,
      lookups: async () => otherLookups,
      many: async () => manyLookups,
      lists: async () => scanLists,
    },
  })
  const lookup = async (lookups: readonly Lookup[]) => lookups.map((one) => answered(find(one)))
  const known = (typed: string): CertifiedEntry => {
    const entry = entries.get(normalizeName(typed))
    if (entry !== undefined) return entry
    throw invalidArgument(`${typed} has no entry: pass it to fakeNames, or call changeOwner.`)
  }
  // Without time for a retry, so that a failure is known at once, also under fake timers.
  const bounded: typeof reads.bounded = (what, asked, run) =>
    reads.bounded(what, asked, (read) => run({ ...read, endsAtMs: Number.NEGATIVE_INFINITY }))
  const faked: typeof reads = { ...reads, lookup, page, bounded } as typeof reads
  const names: FakeNames = {
    ...createNames(faked, options),
    changeOwner: (name, party) => put(name, party),
    setMetadata(name, metadata) {
      put(name, known(name).user, { description: formatMetadata(metadata) })
    },
    remove(name) {
      entries.delete(known(name).name)
      head.offset++
    },
    expire: (name) => put(name, known(name).user, { expiresMicros: clock.nowMicros() }),
    fail(code) {
      if (code !== null && !isErrorCode(code))
        throw invalidArgument(`${shownValue(code)} is not an error code.`)
      failing = code
    },
  }
  return {
    names,
    reads: faked,
    head,
    put,
    /** The party of a name; null: it has no live entry. */
    ownerOf(name: string) {
      const entry = entries.get(name)
      const isOver = entry === undefined || hasEnded(entry.expires_at, clock)
      return isOver ? null : entry.user
    },
  }
}
