/** Submitting commands, and their outcomes (docs/upstream.md §L4, §L5.1). */
import { type Static, Type } from 'typebox'
import * as m from '../members.ts'
import { TransactionFormat } from './formats.ts'
import * as grammar from './grammar.ts'
import * as relaxed from './relaxed.ts'
import {
  JsTransaction,
  JsTransactionTree,
  OffsetCheckpoint,
  SynchronizerTime,
  TraceContext,
} from './updates.ts'

/** Any JSON: values are read by their Daml types. */
const value = (description: string) =>
  Type.Unknown({ description: `${description}, as Daml-LF JSON.` })

const NANOS = { minimum: -999_999_999, maximum: 999_999_999 }

const LedgerDuration = m.component('Duration', 'A length of time.', {
  seconds: relaxed.int64('Whole seconds.'),
  nanos: relaxed.defaulted(m.bounded(relaxed.Int32, 'Nanoseconds beyond them.', NANOS), 0),
})

const templateId = m.about(relaxed.Identifier, 'The template, by package name or id.')
const targetId = m.about(relaxed.Identifier, 'The template, or an interface of the contract.')
const createArguments = value('The fields of the contract')
const choiceArgument = value('The argument of the choice')

const JsCommand = relaxed.namedOneOf('Command', 'One step of a transaction.', {
  CreateCommand: m.component('CreateCommand', 'Creates a contract.', {
    templateId,
    createArguments,
  }),
  ExerciseCommand: m.component('ExerciseCommand', 'Exercises a choice of a contract.', {
    templateId: targetId,
    contractId: grammar.LedgerContractId,
    choice: grammar.Choice,
    choiceArgument,
  }),
  ExerciseByKeyCommand: m.component(
    'ExerciseByKeyCommand',
    'Always refused: no template of this ledger has keys.',
    { templateId, contractKey: value('The key'), choice: grammar.Choice, choiceArgument },
  ),
  CreateAndExerciseCommand: m.component(
    'CreateAndExerciseCommand',
    'Creates a contract and exercises a choice of it.',
    { templateId, createArguments, choice: grammar.Choice, choiceArgument },
  ),
})
export type JsCommand = Static<typeof JsCommand>

const DisclosedContract = m.component(
  'DisclosedContract',
  'A contract that the submitters do not see.',
  {
    createdEventBlob: relaxed.defaulted(
      m.bounded(relaxed.Base64, 'The blob of its event, Base64.', { minLength: 4 }),
      '',
    ),
    templateId: m.omittable(relaxed.Identifier, 'Its template; must be that of the blob.'),
    contractId: grammar.contractIdOrNone('Its id; must be that of the blob.'),
    synchronizerId: grammar.synchronizerIdOrNone('Where it is: the one synchronizer.'),
  },
)

const PrefetchContractKey = m.component('PrefetchContractKey', 'Checked, and without effect.', {
  templateId,
  contractKey: value('The key'),
  limit: Type.Optional(m.bounded(relaxed.Int32, 'Contracts of the key.', { minimum: 1 })),
})

const bothTimes = {
  required: ['minLedgerTimeAbs', 'minLedgerTimeRel'],
  properties: { minLedgerTimeAbs: { type: 'string' }, minLedgerTimeRel: { type: 'object' } },
}

export const JsCommands = Type.Object(
  {
    commands: Type.Array(JsCommand, {
      minItems: 1,
      maxItems: grammar.COMMANDS_MAX,
      description: 'Steps of one transaction, which takes effect as a whole or not at all.',
    }),
    commandId: grammar.ledgerString(
      'Identifies the change, together with the user and actAs: of submissions that share all three, one takes effect within the deduplication period.',
    ),
    actAs: Type.Array(grammar.LedgerParty, {
      minItems: 1,
      maxItems: grammar.SUBMITTERS_MAX,
      description: 'The acting parties. Each is hosted here, and the user may act as each.',
    }),
    userId: grammar.userIdOrNone("Default: the token's user."),
    readAs: relaxed.list(
      grammar.LedgerParty,
      'Parties whose contracts may be used as well. Together with actAs at most 200 parties.',
      { maxItems: grammar.SUBMITTERS_MAX },
    ),
    workflowId: grammar.ledgerStringOrNone('Returned in updates.'),
    deduplicationPeriod: Type.Optional(
      relaxed.namedOneOf(
        'DeduplicationPeriod',
        'An accepted submission of the same change within this period refuses this one. Absent: the longest of the network.',
        {
          DeduplicationDuration: relaxed.wrapped(
            LedgerDuration,
            'A span of record time; not negative.',
          ),
          DeduplicationOffset: relaxed.wrapped(
            m.extended(relaxed.Int64, { minimum: 0 }),
            'The completion at this offset, exclusive.',
          ),
          Empty: relaxed.Empty,
        },
      ),
    ),
    minLedgerTimeAbs: m.omittable(
      relaxed.Timestamp,
      'At most 60 s ahead; excludes minLedgerTimeRel.',
    ),
    minLedgerTimeRel: m.omittable(
      LedgerDuration,
      'The same, relative to the receipt of the command.',
    ),
    submissionId: grammar.ledgerStringOrNone(
      'Distinguishes completions of retries; random if absent.',
    ),
    disclosedContracts: relaxed.list(
      DisclosedContract,
      'Contracts that the submitters use without seeing them.',
      { maxItems: grammar.DISCLOSED_MAX },
    ),
    synchronizerId: grammar.synchronizerIdOrNone('The one synchronizer, if given.'),
    packageIdSelectionPreference: relaxed.list(
      Type.String({ pattern: grammar.PACKAGE_ID_PATTERN }),
      'Known packages, one of each name. Checked, and without effect.',
    ),
    prefetchContractKeys: relaxed.list(PrefetchContractKey, 'Checked, and without effect.'),
    tapsMaxPasses: Type.Optional(
      m.bounded(relaxed.Int32, 'Maximum package selection passes. Checked, and without effect.', {
        minimum: 1,
        maximum: grammar.TAPS_PASSES_MAX,
      }),
    ),
  },
  { title: 'JsCommands', description: 'A submission.', not: bothTimes },
)
export type JsCommands = Static<typeof JsCommands>

export const SubmitAnswer = m.component('SubmitResponse', 'The submission was accepted.', {})

const updateId = m.string('The id of the transaction, in hex.')

export const SubmitAndWaitAnswer = m.component(
  'SubmitAndWaitResponse',
  'The submission took effect.',
  { updateId, completionOffset: m.about(relaxed.Int64, 'The offset of the completion.') },
)

export const CompletionsRequest = m.component(
  'CompletionStreamRequest',
  'Which completions to show.',
  {
    userId: grammar.userIdOrNone("Default: the token's user."),
    parties: relaxed.list(grammar.LedgerParty, 'Parties, one of which acted in the submission.', {
      minItems: 1,
    }),
    beginExclusive: relaxed.int64('Completions after this offset.', { minimum: 0 }),
  },
)
export type CompletionsRequest = Static<typeof CompletionsRequest>

export const CommandCompletionsRequest = m.component(
  'GetCompletionsRequest',
  'Which completions to show, of any user.',
  {
    parties: relaxed.list(
      grammar.LedgerParty,
      'Parties, one of which acted in the submission. Empty: all, for users who may read as any party.',
    ),
    beginExclusive: relaxed.int64('Completions after this offset.', { minimum: 0 }),
  },
)
export type CommandCompletionsRequest = Static<typeof CommandCompletionsRequest>

const unknownFields = m.part('Empty; clients expect it.', {
  fields: Type.Object({}, { description: 'Empty.' }),
})

const WireDuration = m.part('A length of time.', {
  seconds: m.about(relaxed.Int64, 'Whole seconds.'),
  nanos: m.about(relaxed.Int32, 'Nanoseconds beyond them.'),
  unknownFields,
})

const Completion = m.component('Completion', 'The outcome of a submission.', {
  commandId: m.string('As submitted.'),
  status: m.component('JsStatus', 'Whether it was accepted.', {
    code: m.about(relaxed.Int32, '0 if it was accepted, else a gRPC code.'),
    message: m.string('Why it was not.'),
    details: m.rows('More about a refusal.', {
      typeUrl: m.string('What the detail is.'),
      value: m.string('Its bytes, Base64.'),
      valueDecoded: m.record('The same as JSON.', Type.Unknown()),
      unknownFields,
    }),
  }),
  updateId: m.about(updateId, 'The id of the transaction, in hex; empty if it was not accepted.'),
  userId: m.string('The user that submitted.'),
  actAs: m.array('Its parties, as far as they were requested.', Type.String()),
  submissionId: m.string('As submitted, or random.'),
  deduplicationPeriod: relaxed.oneOf('The period in effect.', {
    DeduplicationOffset: relaxed.wrapped(relaxed.Int64, 'Completions after this offset.'),
  }),
  traceContext: m.about(TraceContext, 'The trace context of the request that submitted it.'),
  offset: m.about(relaxed.Int64, 'The offset of the completion.'),
  synchronizerTime: m.about(SynchronizerTime, 'When it was ordered.'),
  paidTrafficCost: m.orNull(relaxed.Int64, 'Always 0 or null: traffic costs nothing.'),
})
export type JsCompletion = Static<typeof Completion>

export const CompletionsElement = m.component(
  'CompletionStreamResponse',
  'One element of the stream.',
  {
    completionResponse: relaxed.oneOf('A completion, or the progress of the stream.', {
      Completion: relaxed.wrapped(Completion),
      OffsetCheckpoint: relaxed.wrapped(OffsetCheckpoint),
    }),
  },
)
export const CompletionsAnswer = Type.Array(CompletionsElement)

export const SubmitForTransactionRequest = m.component(
  'JsSubmitAndWaitForTransactionRequest',
  'A submission, and how to show it.',
  {
    commands: JsCommands,
    transactionFormat: m.omittable(TransactionFormat, 'Absent: ACS_DELTA for actAs and readAs.'),
  },
)

export const SubmitForTransactionAnswer = m.component(
  'JsSubmitAndWaitForTransactionResponse',
  'The transaction.',
  { transaction: JsTransaction },
)

export const SubmitForTransactionTreeAnswer = m.component(
  'JsSubmitAndWaitForTransactionTreeResponse',
  'The transaction.',
  { transactionTree: JsTransactionTree },
)

const supported = (what: string) => m.boolean(`Whether it has ${what}.`)

export const VersionAnswer = m.component(
  'GetLedgerApiVersionResponse',
  'The version of the interface.',
  {
    version: m.string('The version of the interface with which this one is compatible.'),
    features: m.part('Features and their limits.', {
      experimental: m.part('Features that may disappear.', {
        staticTime: m.part('A clock for tests.', {
          supported: supported('a clock that tests control'),
        }),
        commandInspectionService: m.part('Inspection of commands in progress.', {
          supported: supported('such a service'),
        }),
      }),
      userManagement: m.part('Users.', {
        supported: supported('user management'),
        maxRightsPerUser: m.about(relaxed.Int32, 'Rights of a user.'),
        maxUsersPageSize: m.about(relaxed.Int32, 'The largest page of users.'),
      }),
      partyManagement: m.part('Parties.', {
        maxPartiesPageSize: m.about(relaxed.Int32, 'The largest page of parties.'),
      }),
      offsetCheckpoint: m.part('Checkpoints of streams.', {
        maxOffsetCheckpointEmissionDelay: m.about(
          WireDuration,
          'The longest time between two of them.',
        ),
      }),
      packageFeature: m.part('Packages.', {
        maxVettedPackagesPageSize: m.about(relaxed.Int32, 'The largest page of packages.'),
      }),
    }),
  },
)
