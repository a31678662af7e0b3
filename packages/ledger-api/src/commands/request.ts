/**
 * A command request checked, in the order of docs/upstream.md (§L4.5, steps c to e): names and values, then rights,
 * then fields. Checks that need the state follow in `submission.ts`.
 */
import {
  COMMANDS_MAX,
  DISCLOSED_MAX,
  type JsCommands,
  SUBMITTERS_MAX,
  TAPS_PASSES_MAX,
} from '@quorumscan/api'
import { canActAs, canReadAs } from '@quorumscan/auth'
import { LedgerDecodeError } from '@quorumscan/errors'
import { isZonedTime, packages, parseZonedTime, readBlob } from '@quorumscan/ledger'
import type { Deduplication, DisclosedContract, Micros } from '@quorumscan/model'
import type { Caller } from '../callers.ts'
import { negativeOffset } from '../offsets.ts'
import { type ReadCommand, readCommand } from './commands.ts'
import {
  denied,
  invalidArgument,
  invalidField,
  isLedgerString,
  isPackageId,
  isPartyString,
  missingField,
  optionalLedgerString,
  optionalSynchronizerId,
  quoted,
  requiredContractId,
  requiredLedgerString,
  requiredUserId,
} from './grammar.ts'

/** D-29: so far ahead may a ledger time lie. */
const LEDGER_TIME_AHEAD_MICROS_MAX = 60_000_000

export type CheckedRequest = ReturnType<typeof checkRequest>

/**
 * @param options.now - The earliest record time that the commands can get.
 * @throws {LedgerDecodeError | LedgerError}
 */
export function checkRequest(
  request: JsCommands,
  options: {
    readonly caller: Caller
    readonly now: Micros
    readonly deduplicationMicrosMax: Micros
    /** The trace context of the caller; null: none. */
    readonly traceparent: string | null
  },
) {
  const { caller, now, deduplicationMicrosMax, traceparent } = options
  const absoluteTime = readAbsoluteTime(request)
  const commands = readAll(request)
  checkRights(request, caller)
  const workflowId = request.workflowId ?? ''
  if (workflowId !== '' && !isLedgerString(workflowId))
    throw invalidArgument(`workflow_id: ${quoted(workflowId)} is no LedgerString`)
  const userId = requiredUserId(request.userId || caller.userId, 'user_id')
  const commandId = requiredLedgerString(request.commandId, 'command_id')
  const submissionId = optionalLedgerString(request.submissionId ?? '', 'submission_id')
  for (const party of [...request.actAs, ...request.readAs]) checkParty(party)
  const synchronizerId = optionalSynchronizerId(request.synchronizerId ?? '', 'synchronizer_id')
  if (commands.length === 0) throw missingField('commands')
  for (const { command } of commands)
    if (command.kind === 'exercise') requiredContractId(command.contractId, 'contract_id')
  const notBefore = readLedgerTime(request, { absoluteTime, now })
  const deduplication = readDeduplication(request, deduplicationMicrosMax)
  const disclosed = readDisclosed(request)
  checkPackagePreference(request.packageIdSelectionPreference)
  checkHints(request)
  const actAs = [...new Set(request.actAs)]
  const readAs = [...new Set(request.readAs)].filter((party) => !actAs.includes(party))
  checkBounds(request, actAs.length + readAs.length)
  const places = request.disclosedContracts.map((one) => one.synchronizerId ?? '')
  return {
    userId,
    actAs,
    /** The parties of `readAs` that are not in `actAs`. */
    readAs,
    commands,
    commandId,
    /** '' where the caller gave none. */
    submissionId,
    workflowId,
    deduplication,
    /** Record time that the transaction must not precede; 0 for none. */
    notBefore,
    disclosed,
    /** The synchronizers of disclosed contracts by the request; without ''. */
    disclosedSynchronizers: [...new Set(places)].filter((id) => id !== ''),
    synchronizerId,
    traceparent,
  }
}

/** A text that is no instant does not decode (step a). An instant that `Micros` cannot represent decodes. */
function readAbsoluteTime({ minLedgerTimeAbs }: JsCommands): Micros | null {
  if (minLedgerTimeAbs === undefined) return null
  const instant = parseZonedTime(minLedgerTimeAbs) ?? instantOfFarYear(minLedgerTimeAbs)
  if (instant === undefined)
    throw new LedgerDecodeError('body.minLedgerTimeAbs: must be an ISO-8601 instant')
  return instant
}

/** A time before 1970 bounds nothing, a time after 2255 is too far ahead. */
function instantOfFarYear(text: string): Micros | undefined {
  if (!isZonedTime(text)) return undefined
  return text < '1970' ? 0 : Number.MAX_SAFE_INTEGER
}

/** Step c. */
function readAll(request: JsCommands): readonly ReadCommand[] {
  const [first] = request.actAs
  if (first === undefined) throw missingField('act_as')
  checkParty(first)
  for (const id of request.packageIdSelectionPreference)
    if (!isPackageId(id))
      throw invalidArgument(`package_id_selection_preference: ${quoted(id)} is not a package id`)
  return request.commands.map(readCommand)
}

/** Step d. */
function checkRights({ userId, actAs, readAs }: JsCommands, caller: Caller): void {
  if (userId && userId !== caller.userId)
    throw denied(`${caller.userId} submits as the user ${quoted(userId)}`)
  for (const party of actAs)
    if (!canActAs(caller.rights, party))
      throw denied(`${caller.userId} may not act as ${quoted(party)}`)
  for (const party of readAs)
    if (!actAs.includes(party) && !canReadAs(caller.rights, party))
      throw denied(`${caller.userId} may not read as ${quoted(party)}`)
}

function readLedgerTime(
  { minLedgerTimeRel: relative }: JsCommands,
  { absoluteTime, now }: { readonly absoluteTime: Micros | null; readonly now: Micros },
): Micros {
  if (absoluteTime !== null && relative !== undefined)
    throw invalidArgument(
      'min_ledger_time_abs and min_ledger_time_rel cannot be specified together',
    )
  const problem = relative && problemOfDuration(relative)
  if (problem) throw invalidArgument(`min_ledger_time_rel: ${problem}`)
  const bound = relative === undefined ? (absoluteTime ?? 0) : now + microsOf(relative)
  if (bound > now + LEDGER_TIME_AHEAD_MICROS_MAX)
    throw invalidArgument(
      `the ledger time may lie at most ${LEDGER_TIME_AHEAD_MICROS_MAX / 1_000_000} seconds ahead`,
    )
  return Math.max(0, bound)
}

function readDeduplication(
  { deduplicationPeriod: period = { Empty: {} } }: JsCommands,
  longestMicros: Micros,
): Deduplication {
  if ('DeduplicationDuration' in period) {
    const { value } = period.DeduplicationDuration
    const problem = problemOfDuration(value)
    if (problem !== null) throw invalidField('deduplication_period', problem)
    // A longer one than the longest is refused by the ledger, as a completion (docs/upstream.md §L4.7).
    return { kind: 'duration', micros: Math.min(microsOf(value), Number.MAX_SAFE_INTEGER) }
  }
  if ('DeduplicationOffset' in period) {
    const { value: offset } = period.DeduplicationOffset
    if (offset < 0) throw negativeOffset('deduplication_period', offset)
    // No acceptance lies beyond what the ledger can count.
    return { kind: 'offset', offset: Math.min(Number(offset), Number.MAX_SAFE_INTEGER) }
  }
  return { kind: 'duration', micros: longestMicros }
}

/** A blob is the contract's canonical encoding, and its hash the contract's id (D-31). */
function readDisclosed({ disclosedContracts }: JsCommands): readonly DisclosedContract[] {
  const byId = new Map<string, DisclosedContract>()
  for (const disclosed of disclosedContracts) {
    const { createdEventBlob: blob, contractId = '', templateId = '' } = disclosed
    if (blob === '') throw missingField('DisclosedContract.createdEventBlob')
    const read = readBlob(blob)
    if (read === undefined)
      throw invalidArgument('a disclosed blob is not a contract of this ledger')
    if (contractId !== '' && contractId !== read.contractId)
      throw invalidArgument(`the blob disclosed for ${quoted(contractId)} is of another contract`)
    if (templateId !== '' && !isOfTemplate(read.templateId, templateId))
      throw invalidArgument(`the blob disclosed for ${read.contractId} is of another template`)
    optionalSynchronizerId(disclosed.synchronizerId ?? '', 'DisclosedContract.synchronizer_id')
    byId.set(read.contractId, { contractId: read.contractId, blob })
  }
  return [...byId.values()]
}

function isOfTemplate(templateId: string, reference: string): boolean {
  const packageId = templateId.slice(0, templateId.indexOf(':'))
  const name = packages.find(({ id }) => id === packageId)?.name
  return reference === templateId || reference === `#${name}${templateId.slice(packageId.length)}`
}

function checkPackagePreference(ids: readonly string[]): void {
  const names = new Set<string>()
  for (const id of new Set(ids)) {
    const name = packages.find((known) => known.id === id)?.name
    if (name === undefined)
      throw invalidArgument(
        `package_id_selection_preference: the package ${quoted(id)} does not exist`,
      )
    if (names.has(name))
      throw invalidArgument(`package_id_selection_preference has two packages of the name ${name}`)
    names.add(name)
  }
}

/** Validated and without effect (D-27). */
function checkHints({ prefetchContractKeys, tapsMaxPasses }: JsCommands): void {
  for (const { limit } of prefetchContractKeys)
    if (limit !== undefined && limit <= 0)
      throw invalidArgument(`prefetch_contract_keys: the limit ${limit} is not positive`)
  if (tapsMaxPasses !== undefined && (tapsMaxPasses < 1 || tapsMaxPasses > TAPS_PASSES_MAX))
    throw invalidArgument(`taps_max_passes lies between 1 and ${TAPS_PASSES_MAX}`)
}

// The specification has no numbers: Rule 1 bounds what one submission costs every replica.
function checkBounds(request: JsCommands, partyCount: number): void {
  const { commands, actAs, readAs, disclosedContracts } = request
  if (commands.length > COMMANDS_MAX)
    throw invalidArgument(`a submission has at most ${COMMANDS_MAX} commands`)
  // A party that is named twice counts once of both lists together, and twice of its list.
  if (Math.max(partyCount, actAs.length, readAs.length) > SUBMITTERS_MAX)
    throw invalidArgument(`a submission names at most ${SUBMITTERS_MAX} parties`)
  if (disclosedContracts.length > DISCLOSED_MAX)
    throw invalidArgument(`a submission discloses at most ${DISCLOSED_MAX} contracts`)
}

type Duration = { readonly seconds: number | bigint; readonly nanos: number }

/** Rounded up: it is a lower bound, or a period to look back. */
function microsOf({ seconds, nanos }: Duration): Micros {
  return Number(seconds) * 1_000_000 + Math.ceil(nanos / 1000)
}

/** Why it is not a valid duration; null if it is. */
function problemOfDuration({ seconds, nanos }: Duration): string | null {
  if (Math.abs(nanos) >= 1_000_000_000) return `${nanos} nanos are not a part of a second`
  if ((seconds > 0 && nanos < 0) || (seconds < 0 && nanos > 0))
    return `${seconds} seconds and ${nanos} nanos have different signs`
  return seconds < 0 || nanos < 0 ? 'a duration is not negative' : null
}

function checkParty(party: string): void {
  if (!isPartyString(party)) throw invalidArgument(`${quoted(party)} is not a party identifier`)
}
