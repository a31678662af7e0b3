/** The shape of a submission: exact members, identifiers by their grammars. */
import {
  type Command,
  type DisclosedContract,
  isOffset,
  isPartyId,
  type Submission,
} from '@quorumscan/model'

const HEX_32 = /^[0-9a-f]{64}$/
const ID = /^[0-9a-f]{32}$/
const USER_ID = /^[a-zA-Z0-9@^$.!`\-#+'~_|:()]{1,128}$/
const LEDGER_STRING = /^[A-Za-z0-9._:\-#/ ]{1,255}$/
const CONTRACT_ID = /^00[0-9a-f]{64}$/
const TRACEPARENT = /^00-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$/
/** UTF-16 units of a template reference or a choice name: longer ones name nothing of ours. */
const REFERENCE_UNITS_MAX = 255

type Members = { readonly [member: string]: unknown }

/** The value must be JSON (what `JSON.parse` gives). */
export function isSubmission(value: unknown): value is Submission {
  return (
    hasExactly(value, [
      'genesis',
      'participant',
      'id',
      'notAfter',
      'userId',
      'actAs',
      'readAs',
      'commandId',
      'submissionId',
      'workflowId',
      'deduplication',
      'commands',
      'disclosed',
      ...(hasTrace(value) ? ['traceparent'] : []),
    ]) &&
    (!hasTrace(value) || matches(value['traceparent'], TRACEPARENT)) &&
    matches(value['genesis'], HEX_32) &&
    matches(value['participant'], HEX_32) &&
    matches(value['id'], ID) &&
    isOffset(value['notAfter']) &&
    matches(value['userId'], USER_ID) &&
    isPartyList(value['actAs']) &&
    isPartyList(value['readAs']) &&
    matches(value['commandId'], LEDGER_STRING) &&
    isLedgerStringOrEmpty(value['submissionId']) &&
    isLedgerStringOrEmpty(value['workflowId']) &&
    isDeduplication(value['deduplication']) &&
    isListOf(value['commands'], isCommand) &&
    value['commands'].length > 0 &&
    isListOf(value['disclosed'], isDisclosed) &&
    hasSubmitters(value)
  )
}

function hasTrace(value: unknown): value is Members {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, 'traceparent')
}

/** The allocation of a party is the only command and has no submitter. All other commands need one (D-41). */
function hasSubmitters(submission: Members): boolean {
  const commands = submission['commands'] as readonly Command[]
  const actAs = submission['actAs'] as readonly string[]
  return commands.some(({ kind }) => kind === 'allocateParty')
    ? commands.length === 1 && actAs.length === 0
    : actAs.length > 0
}

function isCommand(value: unknown): value is Command {
  if (typeof value !== 'object' || value === null) return false
  const command = value as Members
  switch (command['kind']) {
    case 'create':
      return hasExactly(value, ['kind', 'template', 'argument']) && isReference(value['template'])
    case 'exercise':
      return (
        hasExactly(value, ['kind', 'template', 'contractId', 'choice', 'argument']) &&
        isReference(value['template']) &&
        matches(value['contractId'], CONTRACT_ID) &&
        isReference(value['choice'])
      )
    case 'createAndExercise':
      return (
        hasExactly(value, ['kind', 'template', 'createArgument', 'choice', 'argument']) &&
        isReference(value['template']) &&
        isReference(value['choice'])
      )
    case 'allocateParty':
      return hasExactly(value, ['kind', 'hint']) && typeof value['hint'] === 'string'
    default:
      return false
  }
}

function isDisclosed(value: unknown): value is DisclosedContract {
  return (
    hasExactly(value, ['contractId', 'blob']) &&
    matches(value['contractId'], CONTRACT_ID) &&
    typeof value['blob'] === 'string'
  )
}

function isDeduplication(value: unknown): boolean {
  return (
    (hasExactly(value, ['kind', 'micros']) &&
      value['kind'] === 'duration' &&
      isOffset(value['micros'])) ||
    (hasExactly(value, ['kind', 'offset']) &&
      value['kind'] === 'offset' &&
      isOffset(value['offset']))
  )
}

function isPartyList(value: unknown): value is readonly string[] {
  return isListOf(value, isPartyId) && new Set(value).size === value.length
}

function isListOf<T>(value: unknown, isItem: (item: unknown) => item is T): value is readonly T[] {
  return Array.isArray(value) && value.every(isItem)
}

function isReference(value: unknown): boolean {
  return typeof value === 'string' && value.length <= REFERENCE_UNITS_MAX
}

function isLedgerStringOrEmpty(value: unknown): boolean {
  return value === '' || matches(value, LEDGER_STRING)
}

function matches(value: unknown, pattern: RegExp): boolean {
  return typeof value === 'string' && pattern.test(value)
}

function hasExactly(value: unknown, members: readonly string[]): value is Members {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false
  const keys = Object.keys(value)
  return keys.length === members.length && members.every((member) => Object.hasOwn(value, member))
}
