/** The shape of a submission: exact members, identifiers by their grammars. */

import { type Command, isOffset, isPartyId, type Submission } from '@quorumscan/model'
import { membersOf } from '@quorumscan/verifier'

const HEX_32 = /^[0-9a-f]{64}$/
const ID = /^[0-9a-f]{32}$/
const USER_ID = /^[a-zA-Z0-9@^$.!`\-#+'~_|:()]{1,128}$/
const LEDGER_STRING = /^[A-Za-z0-9._:\-#/ ]{1,255}$/
const CONTRACT_ID = /^00[0-9a-f]{64}$/
const TRACEPARENT = /^00-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$/
/** UTF-16 units of a template reference or a choice name: longer ones name nothing of ours. */
const REFERENCE_UNITS_MAX = 255

type Check = (value: unknown) => boolean
type Members = { readonly [member: string]: unknown }

const matches =
  (pattern: RegExp): Check =>
  (value) =>
    typeof value === 'string' && pattern.test(value)
const listOf =
  (isItem: Check): Check =>
  (value) =>
    Array.isArray(value) && value.every((item) => isItem(item))
const anything: Check = () => true
const isText: Check = (value) => typeof value === 'string'
const isReference: Check = (value) =>
  typeof value === 'string' && value.length <= REFERENCE_UNITS_MAX
const isLedgerString = matches(LEDGER_STRING)
const isLedgerStringOrEmpty: Check = (value) => value === '' || isLedgerString(value)
const isPartyList: Check = (value) =>
  Array.isArray(value) && value.every(isPartyId) && new Set(value).size === value.length

/** Whether a value is an object with exactly these members, each of its form. */
function exactly(forms: Readonly<Record<string, Check>>): Check {
  const members = Object.entries(forms)
  return (value) =>
    typeof value === 'object' &&
    value !== null &&
    !Array.isArray(value) &&
    Object.keys(value).length === members.length &&
    members.every(([name, is]) => Object.hasOwn(value, name) && is((value as Members)[name]))
}

const CHOICE = { kind: anything, template: isReference, choice: isReference, argument: anything }
const COMMANDS: Readonly<Record<Command['kind'], Check>> = {
  create: exactly({ kind: anything, template: isReference, argument: anything }),
  exercise: exactly({ ...CHOICE, contractId: matches(CONTRACT_ID) }),
  createAndExercise: exactly({ ...CHOICE, createArgument: anything }),
  allocateParty: exactly({ kind: anything, hint: isText }),
}

const isCommand: Check = (value) => {
  const { kind } = membersOf(value)
  return (
    typeof kind === 'string' &&
    Object.hasOwn(COMMANDS, kind) &&
    COMMANDS[kind as Command['kind']](value)
  )
}

const isDuration = exactly({ kind: (kind) => kind === 'duration', micros: isOffset })
const isSinceOffset = exactly({ kind: (kind) => kind === 'offset', offset: isOffset })

const MEMBERS = {
  genesis: matches(HEX_32),
  participant: matches(HEX_32),
  id: matches(ID),
  notAfter: isOffset,
  userId: matches(USER_ID),
  actAs: isPartyList,
  readAs: isPartyList,
  commandId: isLedgerString,
  submissionId: isLedgerStringOrEmpty,
  workflowId: isLedgerStringOrEmpty,
  deduplication: (value: unknown) => isDuration(value) || isSinceOffset(value),
  commands: listOf(isCommand),
  disclosed: listOf(exactly({ contractId: matches(CONTRACT_ID), blob: isText })),
}
const isUntraced = exactly(MEMBERS)
const isTraced = exactly({ ...MEMBERS, traceparent: matches(TRACEPARENT) })

/** The value must be JSON (what `JSON.parse` gives). */
export function isSubmission(value: unknown): value is Submission {
  return (isUntraced(value) || isTraced(value)) && hasSubmitters(value as Submission)
}

/** The allocation of a party is the only command and has no submitter. All other commands need one (D-41). */
function hasSubmitters({ commands, actAs }: Submission): boolean {
  return commands.some(({ kind }) => kind === 'allocateParty')
    ? commands.length === 1 && actAs.length === 0
    : commands.length > 0 && actAs.length > 0
}
