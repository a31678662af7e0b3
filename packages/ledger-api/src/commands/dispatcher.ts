/**
 * Submissions in flight. Each is stored before it is acknowledged, one for each change, and is sent until its outcome is
 * known: it is in the log, or its `notAfter` has passed. So a 200 is never lost, even if the process is killed (Rule 3).
 */
import { type Clock, held, linkedController, withResolvers } from '@quorumscan/base'
import { LedgerError, ScanError } from '@quorumscan/errors'
import { type AppliedEntry, changeIdOf, type Ledger, type Ordering } from '@quorumscan/ledger'
import {
  type CompletionRecord,
  type LogPosition,
  type Micros,
  type Offset,
  type PartyId,
  participantOfKey,
  type Submission,
  type UserId,
} from '@quorumscan/model'
import { completionOf, type Replica } from '@quorumscan/replica'
import {
  createInFlight,
  type InFlight,
  type Participant,
  prepareSubmission,
} from '@quorumscan/submit'
import { type Outbox, PENDING_MAX, type PendingSubmission } from '@quorumscan/users'
import { createPendingRoom, overloaded } from './pending-room.ts'

/** µs after which a submission that did not get into the log has no effect; the ledger allows 10 min. */
const LIFE_MICROS = 300_000_000
/** Between attempts to write an outcome to the user store. */
const RETRY_MS = 500
/** Completions of one read after a restart. */
const PORTION = 500

export type DispatchInput = Omit<Submission, 'genesis' | 'participant' | 'id' | 'notAfter'> & {
  /** Record time that the transaction must not precede; 0 for none. */
  readonly notBefore: Micros
}

type DispatcherDeps = Participant & {
  readonly outbox: Outbox
  readonly ledger: Pick<Ledger, 'head' | 'onApplied'> & Pick<Replica, 'completions'>
  readonly ordering: Pick<Ordering, 'submit'>
  readonly clock: Clock
  /**
   * Whether the user exists, is active, and may act and read as these parties.
   *
   * @throws {ScanError} DEPENDENCY_UNAVAILABLE.
   */
  readonly mayAct: (
    userId: UserId,
    actAs: readonly PartyId[],
    readAs: readonly PartyId[],
  ) => Promise<boolean>
  readonly onProblem: (error: unknown) => void
}

type Item = {
  readonly pending: PendingSubmission
  readonly resolve: (record: CompletionRecord) => void
  readonly outcome: Promise<CompletionRecord>
  /** Gives its room back. */
  readonly release: () => void
  /** Stops the sending. */
  readonly over: AbortController
}

/** Owns the pending submissions of one process, in memory and in the store. */
export class Dispatcher implements AsyncDisposable {
  readonly #deps: DispatcherDeps
  readonly #participant: string
  readonly #inFlight: InFlight
  readonly #items = held(
    {
      owner: 'ledger-api',
      name: 'submissions without an outcome',
      kind: 'work',
      bound: 'the pool of submissions',
    },
    new Map<string, Item>(),
  )
  readonly #room = createPendingRoom()
  /** Writes to the store in progress, by entry hash. */
  readonly #ending = held(
    {
      owner: 'ledger-api',
      name: 'outcomes that are written',
      kind: 'work',
      bound: 'the pool of submissions',
    },
    new Map<string, Promise<void>>(),
  )
  readonly #closing = new AbortController()
  readonly #stopListening: () => void
  #settled: Offset

  /** Resumes what was pending when the process ended. To be called before the replica applies an entry. */
  static async create(deps: DispatcherDeps): Promise<Dispatcher> {
    const stored = await deps.outbox.list()
    const head = deps.ledger.head()
    const dispatcher = new Dispatcher(deps, head.offset)
    const known = await completionsSince(deps, stored)
    for (const pending of stored) {
      const item = dispatcher.#addStored(pending)
      const record = known.get(pending.entryHash)
      const isExpired = head.recordTime > pending.notAfter
      if (record !== undefined) dispatcher.#end(item, record, false)
      else if (isExpired) dispatcher.#end(item, expiredAt(pending, head), true)
      else dispatcher.#begin(item, 'sent before')
    }
    await Promise.all(dispatcher.#ending.values())
    return dispatcher
  }

  private constructor(deps: DispatcherDeps, settled: Offset) {
    this.#deps = deps
    this.#participant = participantOfKey(deps.keyPair.publicKey)
    this.#inFlight = createInFlight({ ...deps, waitsForRoom: true })
    this.#settled = settled
    this.#stopListening = deps.ledger.onApplied((entry) => this.#onApplied(entry))
  }

  /** Completions up to here are final: none at or below this offset is still to come. */
  settledOffset(): Offset {
    return this.#settled
  }

  /**
   * Stores the submission and returns. `outcome` resolves when it is known, and never rejects.
   *
   * @throws {LedgerError} SUBMISSION_ALREADY_IN_FLIGHT, PARTICIPANT_BACKPRESSURE (`createPendingRoom`), INVALID_ARGUMENT
   *   if it is too large.
   * @throws {ScanError} DEPENDENCY_UNAVAILABLE: it may or may not be stored.
   */
  async dispatch(input: DispatchInput): Promise<{ readonly outcome: Promise<CompletionRecord> }> {
    const prepared = this.#prepare(input)
    // A user without room costs no signature.
    const release = this.#room.take(input.userId, base64Length(prepared.byteLength))
    let pending: PendingSubmission
    try {
      pending = prepared.sign()
      await this.#store(pending, input)
    } catch (error) {
      release()
      throw error
    }
    const item = this.#add(pending, release)
    this.#begin(item, 'new')
    return { outcome: item.outcome }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stopListening()
    this.#closing.abort(new ScanError('NOT_READY', 'The validator is stopping.'))
    await Promise.all(this.#ending.values())
  }

  /** @throws As `dispatch`. */
  async #store(pending: PendingSubmission, input: DispatchInput): Promise<void> {
    for (;;) {
      const added = await this.#deps.outbox.add(pending)
      if (added.kind === 'added') return
      if (added.kind === 'full') throw overloaded(`${PENDING_MAX} submissions wait for an outcome`)
      const { other } = added
      const ending = this.#ending.get(other.entryHash)
      if (ending === undefined) {
        // Stored by an attempt whose answer was lost.
        if (!this.#items.has(other.entryHash)) this.#begin(this.#addStored(other), 'new')
        throw alreadyInFlight(input, other)
      }
      // Its outcome is known and reported, but not stored yet.
      await ending
    }
  }

  #prepare(input: DispatchInput): { readonly byteLength: number; sign(): PendingSubmission } {
    const { ledger, clock } = this.#deps
    const { notBefore, ...body } = input
    const head = ledger.head()
    const notAfter = Math.max(head.recordTime, clock.nowMicros(), notBefore) + LIFE_MICROS
    const prepared = prepareOrRefuse(this.#deps, body, notAfter)
    const sign = (): PendingSubmission => {
      const { submission, bytes, entryHash } = prepared.sign()
      const { userId, actAs, readAs, commandId, submissionId, deduplication, traceparent } =
        submission
      const trace = traceparent === undefined ? {} : { traceparent }
      const completion = { userId, actAs, commandId, submissionId, deduplication, ...trace }
      const text = Buffer.from(bytes).toString('base64')
      const signed = { entryHash, bytes: text, notBefore, notAfter }
      const changeId = changeIdOf(submission)
      return { ...signed, changeId, head: head.offset, readAs, completion }
    }
    return { byteLength: prepared.byteLength, sign }
  }

  #addStored(pending: PendingSubmission): Item {
    return this.#add(pending, this.#room.hold(pending.completion.userId, sizeOf(pending)))
  }

  #add(pending: PendingSubmission, release: () => void): Item {
    const { promise: outcome, resolve } = withResolvers<CompletionRecord>()
    const item = {
      pending,
      resolve,
      outcome,
      release,
      over: linkedController(this.#closing.signal),
    }
    this.#items.set(pending.entryHash, item)
    return item
  }

  #begin(item: Item, kind: 'new' | 'sent before'): void {
    const { pending, over } = item
    const { readAs = [] } = pending
    const { userId, actAs } = pending.completion
    const entry = {
      ...pending,
      bytes: () => new Uint8Array(Buffer.from(pending.bytes, 'base64')),
      signal: over.signal,
      onApplied: (applied: AppliedEntry) => {
        const record = completionOf(applied, this.#participant)
        if (record !== undefined) this.#end(item, record, false)
      },
      onExpired: (at: LogPosition) => this.#end(item, expiredAt(pending, at), true),
      isAllowed: () => this.#deps.mayAct(userId, actAs, readAs),
      // An earlier process may have sent it: only the log can show that it has no effect.
      onDenied: (at: LogPosition) => {
        if (kind === 'new') this.#end(item, deniedAt(pending, at), true)
        else if (at.recordTime > pending.notAfter) this.#end(item, expiredAt(pending, at), true)
      },
      // After a permanent refusal it waits for its `notAfter`: only the log can show that it has no effect.
      onRefused: this.#deps.onProblem,
    }
    this.#inFlight.add(entry, this.#deps.ledger.head().recordTime)
  }

  #onApplied(entry: AppliedEntry): void {
    this.#inFlight.onApplied(entry)
    const { offset } = entry
    if (this.#ending.size === 0) this.#settled = offset
    // The outcome must be on disk before a client reads past this offset.
    else
      void Promise.all(this.#ending.values()).then(() => {
        this.#settled = Math.max(this.#settled, offset)
      })
  }

  #end(item: Item, record: CompletionRecord, isExpired: boolean): void {
    const { pending, over } = item
    if (!this.#items.delete(pending.entryHash)) return
    over.abort()
    this.#inFlight.remove(pending.entryHash)
    const ending = this.#complete(pending, isExpired ? record : null).then(() => {
      this.#ending.delete(pending.entryHash)
      item.release()
      item.resolve(record)
    })
    this.#ending.set(pending.entryHash, ending)
  }

  async #complete(pending: PendingSubmission, expired: CompletionRecord | null): Promise<void> {
    const { signal } = this.#closing
    for (;;)
      try {
        return await this.#deps.outbox.complete(pending, expired)
      } catch (error) {
        this.#deps.onProblem(error)
        // The next start finds it pending and its outcome in the log.
        if (signal.aborted) return
        await this.#deps.clock.delay(RETRY_MS, signal).catch(() => {})
      }
  }
}

/** Bytes of the signed entry, as it is stored. */
function sizeOf({ bytes }: PendingSubmission): number {
  return bytes.length
}

/** As of the text that `sizeOf` measures. */
function base64Length(byteLength: number): number {
  return 4 * Math.ceil(byteLength / 3)
}

function prepareOrRefuse(...input: Parameters<typeof prepareSubmission>) {
  try {
    return prepareSubmission(...input)
  } catch (error) {
    if (!(error instanceof RangeError)) throw error
    throw new LedgerError('INVALID_ARGUMENT', `The submission is refused: ${error.message}.`)
  }
}

function expiredAt(
  { entryHash, completion }: PendingSubmission,
  { offset, recordTime }: LogPosition,
): CompletionRecord {
  const message = 'the submission did not get into the log in time; it has no effect'
  const outcome = { kind: 'rejected', code: 'NOT_SEQUENCED_TIMEOUT', message } as const
  return { offset, recordTime, entryHash, completion, outcome }
}

function deniedAt(
  { entryHash, completion }: PendingSubmission,
  { offset, recordTime }: LogPosition,
): CompletionRecord {
  const message =
    'the user may no longer act or read as these parties; the submission has no effect'
  const outcome = { kind: 'rejected', code: 'PERMISSION_DENIED', message } as const
  return { offset, recordTime, entryHash, completion, outcome }
}

/** Completions that the log holds for submissions that were pending when the process ended. */
async function completionsSince(
  { ledger }: Pick<DispatcherDeps, 'ledger'>,
  stored: readonly PendingSubmission[],
): Promise<ReadonlyMap<string, CompletionRecord>> {
  const wanted = new Set(stored.map(({ entryHash }) => entryHash))
  const found = new Map<string, CompletionRecord>()
  const upTo = ledger.head().offset
  let after = Math.min(upTo, ...stored.map(({ head }) => head))
  while (found.size < wanted.size) {
    const page = await ledger.completions({ after, upTo, limit: PORTION })
    for (const record of page) if (wanted.has(record.entryHash)) found.set(record.entryHash, record)
    const last = page.at(-1)
    if (last === undefined) break
    after = last.offset
  }
  return found
}

function alreadyInFlight(input: DispatchInput, other: PendingSubmission): LedgerError {
  const { submissionId } = other.completion
  return new LedgerError(
    'SUBMISSION_ALREADY_IN_FLIGHT',
    `A submission of this change is under way: commandId ${input.commandId}, submissionId ${submissionId}.`,
    { context: { existing_submission_id: submissionId }, correlationId: input.submissionId },
  )
}
