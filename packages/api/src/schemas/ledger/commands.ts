/** Submitting commands, and what became of them (docs/upstream.md §L4, §L5.1). */
import { type Static, Type } from 'typebox'
import { about, component, extended, formed, nullable, part } from '../members.ts'
import { TransactionFormat } from './formats.ts'
import {
  Choice,
  COMMANDS_MAX,
  DISCLOSED_MAX,
  emptyOr,
  LEDGER_CONTRACT_ID_PATTERN,
  LedgerContractId,
  LedgerParty,
  ledgerString,
  ledgerStringOrEmpty,
  PACKAGE_ID_PATTERN,
  SUBMITTERS_MAX,
  synchronizerIdOrEmpty,
  TAPS_PASSES_MAX,
  userIdOrEmpty,
} from './grammar.ts'
import {
  Base64,
  defaulted,
  Empty,
  Identifier,
  Int32,
  Int64,
  int64,
  list,
  oneOf,
  Timestamp,
  wrapped,
} from './relaxed.ts'
import { JsTransaction, OffsetCheckpoint, SynchronizerTime, TraceContext } from './updates.ts'

/** Any JSON: values are read by their Daml types. */
const value = (description: string) =>
  Type.Unknown({ description: `${description}, as Daml-LF JSON.` })

const NANOS = { minimum: -999_999_999, maximum: 999_999_999 }

const LedgerDuration = component('Duration', 'A length of time.', {
  seconds: int64('Whole seconds.'),
  nanos: defaulted(extended(Int32, { ...NANOS, description: 'Nanoseconds beyond them.' }), 0),
})

const templateId = about(Identifier, 'The template, by package name or id.')
const targetId = about(Identifier, 'The template, or an interface that the contract implements.')
const createArguments = value('The fields of the contract')
const choiceArgument = value('The argument of the choice')

const JsCommand = oneOf(
  {
    CreateCommand: component('CreateCommand', 'Creates a contract.', {
      templateId,
      createArguments,
    }),
    ExerciseCommand: component('ExerciseCommand', 'Exercises a choice of a contract.', {
      templateId: targetId,
      contractId: LedgerContractId,
      choice: Choice,
      choiceArgument,
    }),
    ExerciseByKeyCommand: component(
      'ExerciseByKeyCommand',
      'Always refused: no template of this ledger has keys.',
      { templateId, contractKey: value('The key'), choice: Choice, choiceArgument },
    ),
    CreateAndExerciseCommand: component(
      'CreateAndExerciseCommand',
      'Creates a contract and exercises a choice of it.',
      { templateId, createArguments, choice: Choice, choiceArgument },
    ),
  },
  { title: 'Command', description: 'One step of a transaction.' },
)
export type JsCommand = Static<typeof JsCommand>

const DisclosedContract = component(
  'DisclosedContract',
  'A contract that the submitters do not see.',
  {
    createdEventBlob: defaulted(
      extended(Base64, { minLength: 4, description: 'The blob of its created event, Base64.' }),
      '',
    ),
    templateId: Type.Optional(about(Identifier, 'Its template; must be that of the blob.')),
    contractId: Type.Optional(
      formed(emptyOr(LEDGER_CONTRACT_ID_PATTERN), 'Its id; must be that of the blob.'),
    ),
    synchronizerId: Type.Optional(synchronizerIdOrEmpty('Where it is: the one synchronizer.')),
  },
)

const PrefetchContractKey = component('PrefetchContractKey', 'Checked, and without effect.', {
  templateId,
  contractKey: value('The key'),
  limit: Type.Optional(extended(Int32, { minimum: 1, description: 'Contracts of the key.' })),
})

const bothTimes = {
  required: ['minLedgerTimeAbs', 'minLedgerTimeRel'],
  properties: { minLedgerTimeAbs: { type: 'string' }, minLedgerTimeRel: { type: 'object' } },
}

export const JsCommands = Type.Object(
  {
    commands: Type.Array(JsCommand, {
      minItems: 1,
      maxItems: COMMANDS_MAX,
      description: 'Steps of one transaction, which takes effect as a whole or not at all.',
    }),
    commandId: ledgerString(
      'Names the change together with the user and the parties of actAs: of submissions that share all three, one takes effect within the deduplication period.',
    ),
    actAs: Type.Array(LedgerParty, {
      minItems: 1,
      maxItems: SUBMITTERS_MAX,
      description:
        'Parties on whose behalf it is; each is hosted here, and the user may act as each.',
    }),
    userId: Type.Optional(userIdOrEmpty("The token's user, which it is if absent.")),
    readAs: list(
      LedgerParty,
      'Parties whose contracts may be used as well. Together with actAs at most 200 parties.',
      { maxItems: SUBMITTERS_MAX },
    ),
    workflowId: Type.Optional(ledgerStringOrEmpty('Comes back in the updates.')),
    deduplicationPeriod: Type.Optional(
      oneOf(
        {
          DeduplicationDuration: wrapped(
            LedgerDuration,
            'So far back in record time; not negative.',
          ),
          DeduplicationOffset: wrapped(
            extended(Int64, { minimum: 0 }),
            'Back to the completion at this offset, exclusive.',
          ),
          Empty,
        },
        {
          title: 'DeduplicationPeriod',
          description:
            'Within which an accepted submission of the same change refuses this one. Absent: the longest of the network.',
        },
      ),
    ),
    minLedgerTimeAbs: Type.Optional(
      about(Timestamp, 'Earliest ledger time, at most 60 s ahead; excludes minLedgerTimeRel.'),
    ),
    minLedgerTimeRel: Type.Optional(
      about(LedgerDuration, 'The same, counted from when the command is received; not negative.'),
    ),
    submissionId: Type.Optional(
      ledgerStringOrEmpty('Tells completions of retries apart; drawn if absent.'),
    ),
    disclosedContracts: list(
      DisclosedContract,
      'Contracts that may be used although the submitters do not see them.',
      { maxItems: DISCLOSED_MAX },
    ),
    synchronizerId: Type.Optional(
      synchronizerIdOrEmpty('Where it shall be ordered: the one synchronizer, if given.'),
    ),
    packageIdSelectionPreference: list(
      Type.String({ pattern: PACKAGE_ID_PATTERN }),
      'Known packages, one of a name. Checked, and without effect.',
    ),
    prefetchContractKeys: list(PrefetchContractKey, 'Checked, and without effect.'),
    tapsMaxPasses: Type.Optional(
      extended(Int32, {
        minimum: 1,
        maximum: TAPS_PASSES_MAX,
        description: 'Passes of package selection. Checked, and without effect.',
      }),
    ),
  },
  { title: 'JsCommands', description: 'A submission.', not: bothTimes },
)
export type JsCommands = Static<typeof JsCommands>

export const SubmitAnswer = component('SubmitResponse', 'The submission was taken.', {})

const updateId = Type.String({ description: 'The id of the transaction, in hex.' })

export const SubmitAndWaitAnswer = component(
  'SubmitAndWaitResponse',
  'The submission took effect.',
  { updateId, completionOffset: about(Int64, 'Where the completion stands.') },
)

export const CompletionsRequest = component(
  'CompletionStreamRequest',
  'Which completions to show.',
  {
    userId: Type.Optional(userIdOrEmpty("The token's user, which it is if absent.")),
    parties: list(LedgerParty, 'Of submissions that one of these acted in.', { minItems: 1 }),
    beginExclusive: int64('Only what came after this offset.', { minimum: 0 }),
  },
)
export type CompletionsRequest = Static<typeof CompletionsRequest>

const unknownFields = part('Nothing; clients expect it.', {
  fields: Type.Object({}, { description: 'Empty.' }),
})

const WireDuration = part('A length of time.', {
  seconds: about(Int64, 'Whole seconds.'),
  nanos: about(Int32, 'Nanoseconds beyond them.'),
  unknownFields,
})

const Completion = component('Completion', 'What became of a submission.', {
  commandId: Type.String({ description: 'As submitted.' }),
  status: component('JsStatus', 'Whether it was accepted.', {
    code: about(Int32, '0 if it was accepted, else a gRPC code.'),
    message: Type.String({ description: 'Why it was not.' }),
    details: Type.Array(
      Type.Object({
        typeUrl: Type.String({ description: 'What the detail is.' }),
        value: Type.String({ description: 'Its bytes, Base64.' }),
        valueDecoded: Type.Record(Type.String(), Type.Unknown(), {
          description: 'The same as JSON.',
        }),
        unknownFields,
      }),
      { description: 'More about a refusal.' },
    ),
  }),
  updateId: about(updateId, 'The id of the transaction, in hex; empty if it was not accepted.'),
  userId: Type.String({ description: 'Who submitted.' }),
  actAs: Type.Array(Type.String(), { description: 'Those of its parties that were asked for.' }),
  submissionId: Type.String({ description: 'As submitted, or drawn.' }),
  deduplicationPeriod: oneOf(
    {
      DeduplicationOffset: wrapped(Int64, 'Completions after this offset.'),
    },
    { description: 'The period in effect.' },
  ),
  traceContext: about(TraceContext, 'Of the request that submitted it.'),
  offset: about(Int64, 'Where the completion stands.'),
  synchronizerTime: about(SynchronizerTime, 'When it was ordered.'),
  paidTrafficCost: about(nullable(Int64), 'Always 0 or null: traffic costs nothing.'),
})
export type JsCompletion = Static<typeof Completion>

export const CompletionsElement = component(
  'CompletionStreamResponse',
  'One element of the stream.',
  {
    completionResponse: oneOf(
      { Completion: wrapped(Completion), OffsetCheckpoint: wrapped(OffsetCheckpoint) },
      { description: 'A completion, or how far the stream is.' },
    ),
  },
)
export const CompletionsAnswer = Type.Array(CompletionsElement)

export const SubmitForTransactionRequest = component(
  'JsSubmitAndWaitForTransactionRequest',
  'A submission, and how to show it.',
  {
    commands: JsCommands,
    transactionFormat: Type.Optional(
      about(TransactionFormat, 'How to show it. Absent: ACS_DELTA for actAs and readAs.'),
    ),
  },
)

export const SubmitForTransactionAnswer = component(
  'JsSubmitAndWaitForTransactionResponse',
  'The transaction.',
  { transaction: JsTransaction },
)

const supported = (what: string) => Type.Boolean({ description: `Whether there is ${what}.` })

export const VersionAnswer = component('GetLedgerApiVersionResponse', 'Which interface this is.', {
  version: Type.String({ description: 'Of the interface that this one is compatible with.' }),
  features: part('What there is, and how much of it.', {
    experimental: part('What may go away.', {
      staticTime: part('A clock for tests.', {
        supported: supported('a clock that is set by hand'),
      }),
      commandInspectionService: part('Looking into commands under way.', {
        supported: supported('such a service'),
      }),
    }),
    userManagement: part('Users.', {
      supported: supported('user management'),
      maxRightsPerUser: about(Int32, 'Rights of a user.'),
      maxUsersPageSize: about(Int32, 'The largest page of users.'),
    }),
    partyManagement: part('Parties.', {
      maxPartiesPageSize: about(Int32, 'The largest page of parties.'),
    }),
    offsetCheckpoint: part('Checkpoints of streams.', {
      maxOffsetCheckpointEmissionDelay: about(
        WireDuration,
        'How long a stream may be silent about how far it is.',
      ),
    }),
    packageFeature: part('Packages.', {
      maxVettedPackagesPageSize: about(Int32, 'The largest page of packages.'),
    }),
  }),
})
