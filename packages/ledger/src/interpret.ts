/**
 * Interpretation: the effect of a log entry on the state. Pure and synchronous; every replica gets the same
 * result from the same log (Rule 1). An entry is atomic: a refused one leaves only its `seen` record.
 *
 * Callers repeat `interpret` until it is `done`, and load the cells that it needs in between.
 */
import { assert } from '@quorumscan/base'
import type {
  Completion,
  ContractId,
  EntryResult,
  PartyId,
  Submission,
  Update,
} from '@quorumscan/model'
import { partyIdOf, partyParticipant } from '@quorumscan/model'
import { type Genesis, NOT_AFTER_MICROS_MAX } from '@quorumscan/verifier'
import { dedupe, isLoaded, missingCells } from './cells.ts'
import type { PreparedCommand } from './command-preparation.ts'
import { isBlobOf, updateIdOf } from './contract-id.ts'
import type { DecodedEntry, IgnoredReason } from './entry.ts'
import { countGrowth, growthIdOf } from './growth.ts'
import type { LogEntry } from './ports.ts'
import { attempt, MissingCells, Refusal, refuse } from './refusal.ts'
import { payloadOf } from './registry.ts'
import { type Rules, rulesOf } from './rules.ts'
import type { CellKey, ChangeRecord, StateDelta, StateView } from './state.ts'
import { type Facts, factsOf } from './submission-facts.ts'
import { type DsoRulesPayload, dsoRules, protocolVersionAt } from './templates/dso-rules.ts'
import { LedgerTransaction } from './transaction.ts'

export type InterpretInput = {
  readonly entry: Pick<LogEntry, 'offset' | 'recordTime'>
  readonly decoded: DecodedEntry
  readonly genesis: Genesis
  /** Hex. */
  readonly genesisHash: string
  readonly view: StateView
}

export type Interpretation =
  /** Load these cells, then interpret again. */
  | { readonly kind: 'needs'; readonly keys: readonly CellKey[] }
  /** From this entry on, a protocol version is in force that this software does not know: it must stop. */
  | { readonly kind: 'unknown version'; readonly version: number }
  | { readonly kind: 'done'; readonly result: EntryResult; readonly delta: StateDelta }

type SubmissionInput = InterpretInput & {
  readonly rules: Rules
  readonly decoded: Extract<DecodedEntry, { kind: 'submission' }>
}

const NO_CHANGE: StateDelta = {
  created: [],
  archived: [],
  changes: [],
  seen: null,
  allocated: [],
}

/** What the entry does by the rules that are in force at its record time. */
export function interpret(input: InterpretInput): Interpretation {
  const { decoded, view } = input
  const missing = missingCells(view, [{ kind: 'index', key: 'singleton:DsoRules' }])
  if (missing.length > 0) return { kind: 'needs', keys: missing }
  const version = protocolVersionAt(currentDsoRules(view), input.entry.recordTime)
  const rules = rulesOf(version)
  if (rules === undefined) return { kind: 'unknown version', version }
  if (decoded.kind === 'checkpoint')
    return { kind: 'done', result: { kind: 'checkpoint' }, delta: NO_CHANGE }
  if (decoded.kind === 'ignored') return ignored(decoded.reason)
  return interpretSubmission({ ...input, decoded, rules })
}

function interpretSubmission(input: SubmissionInput): Interpretation {
  const { entry, decoded, genesis, genesisHash, view, rules } = input
  const { submission, entryHash } = decoded
  if (
    entry.recordTime > submission.notAfter ||
    submission.notAfter > entry.recordTime + NOT_AFTER_MICROS_MAX
  )
    return ignored('not after')
  if (submission.genesis !== genesisHash) return ignored('other network')
  const facts = factsOf(submission, rules)
  if (!facts.isBound || facts.parties.has(genesis.dso)) return ignored('not bound')
  const isCounted = rules.isGrowthBounded && !(facts.prepared instanceof Refusal)
  const keys: readonly CellKey[] = [
    { kind: 'seen', id: entryHash },
    ...facts.keys,
    ...(isCounted ? [growthKey(input)] : []),
  ]
  const missing = keys.filter((key) => !isLoaded(view, key))
  if (missing.length > 0) return { kind: 'needs', keys: missing }
  if (view.seen(entryHash) !== null) return ignored('seen before')

  const seen = { id: entryHash, until: submission.notAfter }
  const completion = completionOf(submission)
  const { prepared, changeId } = facts
  const done =
    prepared instanceof Refusal
      ? prepared
      : attempt(() => {
          const { update, effects } = run({ ...input, facts, prepared })
          const growth = countGrowth({ ...input, dsoRules: currentDsoRules(view) }, effects)
          return { update, effects, growth }
        })
  if (done instanceof MissingCells) return { kind: 'needs', keys: dedupe(done.keys) }
  if (done instanceof Refusal) {
    const { code, message, prior } = done
    const refused = { kind: 'rejected', completion, code, message } as const
    return {
      kind: 'done',
      result: prior === undefined ? refused : { ...refused, prior },
      delta: { ...NO_CHANGE, seen },
    }
  }
  const record: ChangeRecord = {
    offset: entry.offset,
    recordTime: entry.recordTime,
    submissionId: submission.submissionId,
    until: entry.recordTime + genesis.deduplicationMicrosMax,
  }
  return {
    kind: 'done',
    result: { kind: 'accepted', completion, update: done.update },
    delta: {
      ...done.effects,
      changes: [{ id: changeId, record }, ...(done.growth === null ? [] : [done.growth])],
      seen,
    },
  }
}

/** The bytes that the participant has added on the day of the entry. */
function growthKey({ entry, decoded }: SubmissionInput): CellKey {
  const { participant } = decoded.submission
  return { kind: 'change', id: growthIdOf(participant, entry.recordTime) }
}

type RunInput = SubmissionInput & {
  readonly facts: Facts
  readonly prepared: readonly PreparedCommand[]
}

function run(input: RunInput) {
  const { entry, decoded, genesis, genesisHash, view, rules } = input
  const { submission } = decoded
  demandNotDuplicate(input)
  const { offset, recordTime } = entry
  const updateId = updateIdOf({ genesisHash, offset, recordTime })
  const [first] = input.prepared
  if (first?.kind === 'allocateParty') {
    const allocated = allocate(submission, first.hint, view)
    const update: Update = {
      updateId,
      workflowId: submission.workflowId,
      events: [],
      allocated: [{ party: allocated, participant: partyParticipant(allocated) }],
    }
    return { update, effects: { created: [], archived: [], allocated: [allocated] } }
  }
  for (const party of input.facts.parties)
    if (view.isPartyAllocated(party) !== true)
      refuse('PERMISSION_DENIED', `${party} is no party of this network`)
  const missing = missingCells(view, input.facts.contractKeys)
  if (missing.length > 0) throw new MissingCells(missing)
  demandVisible(input)
  const transactionInput = {
    rules,
    view,
    genesis,
    genesisHash,
    offset: entry.offset,
    recordTime: entry.recordTime,
    updateId,
    authority: submission.actAs,
  }
  const tx = new LedgerTransaction(transactionInput)
  for (const [index, command] of input.prepared.entries()) {
    if (command.kind === 'allocateParty') continue
    try {
      command.run(tx)
    } catch (error) {
      if (!(error instanceof MissingCells)) throw error
      // The other commands miss cells too: one round trip can load them all.
      const keys = [...error.keys]
      for (const later of input.prepared.slice(index + 1)) {
        if (later.kind === 'allocateParty') continue
        const missed = attempt(() => later.run(new LedgerTransaction(transactionInput)))
        if (missed instanceof MissingCells) keys.push(...missed.keys)
      }
      throw new MissingCells(keys)
    }
  }
  const { events, created, archived } = tx.finish()
  const update: Update = { updateId, workflowId: submission.workflowId, events, allocated: [] }
  return { update, effects: { created, archived, allocated: [] } }
}

function allocate(submission: Submission, hint: string, view: StateView): PartyId {
  const party = partyIdOf(hint, submission.participant)
  if (party === undefined) refuse('INVALID_ARGUMENT', 'a hint is 1 to 185 of A-Z a-z 0-9 _ -')
  if (view.isPartyAllocated(party) === true)
    refuse('CHOICE_REFUSED', `the party ${party} is allocated already`)
  return party
}

/** Change-ID deduplication by record time and offset (D-29). */
function demandNotDuplicate({ entry, decoded, genesis, view, facts }: RunInput): void {
  const { deduplication } = decoded.submission
  if (deduplication.kind === 'duration' && deduplication.micros > genesis.deduplicationMicrosMax)
    refuse(
      'INVALID_DEDUPLICATION_PERIOD',
      `a deduplication period has at most ${genesis.deduplicationMicrosMax} microseconds`,
    )
  const record = view.change(facts.changeId)
  // An acceptance beyond the longest period does not count, whether it is purged already or not.
  if (record === null || record === undefined || record.until < entry.recordTime) return
  const blocks =
    deduplication.kind === 'duration'
      ? record.recordTime >= entry.recordTime - deduplication.micros
      : record.offset > deduplication.offset
  if (!blocks) return
  const { offset, submissionId } = record
  throw new Refusal('DUPLICATE_COMMAND', `the same change was accepted at offset ${offset}`, {
    offset,
    submissionId,
  })
}

/**
 * A submission may use contracts that one of its parties is a stakeholder of, or that it discloses: the
 * operator's rules and rounds, too. Super-validators act for the operator and see what it sees, which is
 * everything: the operator signs every contract.
 */
function demandVisible({ decoded, facts, view }: RunInput): void {
  const { parties, mentioned } = facts
  const disclosed = new Set<ContractId>()
  for (const { contractId, blob } of decoded.submission.disclosed) {
    if (!isBlobOf(contractId, blob))
      refuse('INVALID_ARGUMENT', `the blob disclosed for ${contractId} is not that contract's`)
    disclosed.add(contractId)
  }
  const seesAll = currentDsoRules(view).svs.some((sv) => parties.has(sv.party))
  for (const id of mentioned) {
    const contract = view.contract(id)
    const isVisible =
      contract !== null &&
      contract !== undefined &&
      (seesAll ||
        disclosed.has(id) ||
        contract.signatories.some((party) => parties.has(party)) ||
        contract.observers.some((party) => parties.has(party)))
    if (!isVisible)
      refuse('CONTRACT_NOT_FOUND', `no active contract visible to the submitters has the id ${id}`)
  }
}

function completionOf(submission: Submission): Completion {
  const { userId, actAs, commandId, submissionId, deduplication, traceparent } = submission
  const reported = { userId, actAs, commandId, submissionId, deduplication }
  return traceparent === undefined ? reported : { ...reported, traceparent }
}

function currentDsoRules(view: StateView): DsoRulesPayload {
  const id = view.index('singleton:DsoRules')?.[0]
  const contract = id === undefined ? undefined : view.contract(id)
  assert(contract !== undefined && contract !== null, 'the genesis creates DsoRules')
  return payloadOf(dsoRules, contract)
}

function ignored(reason: IgnoredReason): Interpretation {
  return { kind: 'done', result: { kind: 'ignored', reason }, delta: NO_CHANGE }
}
