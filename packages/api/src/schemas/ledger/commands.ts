/** Submitting commands, and what became of them (docs/upstream.md §L4, §L5.1). */
import { type Static, Type } from 'typebox'
import { TransactionFormat } from './formats.ts'
import {
  Base64,
  defaulted,
  Empty,
  Identifier,
  Int32,
  Int64,
  int64,
  list,
  nullable,
  oneOf,
  Timestamp,
  wrapped,
} from './relaxed.ts'
import { JsTransaction, OffsetCheckpoint, TraceContext } from './updates.ts'

/** Any JSON: values are read by their Daml types. */
const Value = Type.Unknown({ description: 'Daml-LF JSON.' })

const LedgerDuration = Type.Object(
  { seconds: int64(), nanos: defaulted(Int32, 0) },
  { title: 'Duration' },
)

const JsCommand = oneOf(
  {
    CreateCommand: Type.Object({ templateId: Identifier, createArguments: Value }),
    ExerciseCommand: Type.Object({
      templateId: Identifier,
      contractId: Type.String(),
      choice: Type.String(),
      choiceArgument: Value,
    }),
    ExerciseByKeyCommand: Type.Object({
      templateId: Identifier,
      contractKey: Value,
      choice: Type.String(),
      choiceArgument: Value,
    }),
    CreateAndExerciseCommand: Type.Object({
      templateId: Identifier,
      createArguments: Value,
      choice: Type.String(),
      choiceArgument: Value,
    }),
  },
  'Command',
)
export type JsCommand = Static<typeof JsCommand>

export const JsCommands = Type.Object(
  {
    commands: Type.Array(JsCommand),
    commandId: Type.String(),
    actAs: Type.Array(Type.String()),
    userId: Type.Optional(Type.String()),
    readAs: list(Type.String()),
    workflowId: Type.Optional(Type.String()),
    deduplicationPeriod: Type.Optional(
      oneOf(
        {
          DeduplicationDuration: wrapped(LedgerDuration),
          DeduplicationOffset: wrapped(Int64),
          Empty,
        },
        'DeduplicationPeriod',
      ),
    ),
    minLedgerTimeAbs: Type.Optional(Timestamp),
    minLedgerTimeRel: Type.Optional(LedgerDuration),
    submissionId: Type.Optional(Type.String()),
    disclosedContracts: list(
      Type.Object({
        createdEventBlob: defaulted(Base64, ''),
        templateId: Type.Optional(Identifier),
        contractId: Type.Optional(Type.String()),
        synchronizerId: Type.Optional(Type.String()),
      }),
    ),
    synchronizerId: Type.Optional(Type.String()),
    packageIdSelectionPreference: list(Type.String()),
    prefetchContractKeys: list(
      Type.Object({
        templateId: Identifier,
        contractKey: Value,
        limit: Type.Optional(Int32),
      }),
    ),
    tapsMaxPasses: Type.Optional(Int32),
  },
  { title: 'JsCommands' },
)
export type JsCommands = Static<typeof JsCommands>

export const SubmitAnswer = Type.Object({}, { title: 'SubmitResponse' })

export const SubmitAndWaitAnswer = Type.Object(
  { updateId: Type.String(), completionOffset: Int64 },
  { title: 'SubmitAndWaitResponse' },
)

export const CompletionsRequest = Type.Object(
  {
    userId: Type.Optional(Type.String()),
    parties: list(Type.String()),
    beginExclusive: int64(),
  },
  { title: 'CompletionStreamRequest' },
)
export type CompletionsRequest = Static<typeof CompletionsRequest>

const WireDuration = Type.Object({
  seconds: Int64,
  nanos: Int32,
  unknownFields: Type.Object({ fields: Type.Object({}) }),
})

const Completion = Type.Object(
  {
    commandId: Type.String(),
    status: Type.Object(
      {
        code: Int32,
        message: Type.String(),
        details: Type.Array(
          Type.Object({
            typeUrl: Type.String(),
            value: Type.String({ description: 'Base64.' }),
            valueDecoded: Type.Record(Type.String(), Type.Unknown()),
            unknownFields: Type.Object({ fields: Type.Object({}) }),
          }),
        ),
      },
      { title: 'JsStatus' },
    ),
    updateId: Type.String(),
    userId: Type.String(),
    actAs: Type.Array(Type.String()),
    submissionId: Type.String(),
    deduplicationPeriod: oneOf({ DeduplicationOffset: wrapped(Int64) }),
    traceContext: TraceContext,
    offset: Int64,
    synchronizerTime: Type.Object({ synchronizerId: Type.String(), recordTime: Timestamp }),
    paidTrafficCost: nullable(Int64),
  },
  { title: 'Completion' },
)
export type JsCompletion = Static<typeof Completion>

export const CompletionsAnswer = Type.Array(
  Type.Object(
    {
      completionResponse: oneOf({
        Completion: wrapped(Completion),
        OffsetCheckpoint: wrapped(OffsetCheckpoint),
      }),
    },
    { title: 'CompletionStreamResponse' },
  ),
)

export const SubmitForTransactionRequest = Type.Object(
  { commands: JsCommands, transactionFormat: Type.Optional(TransactionFormat) },
  { title: 'JsSubmitAndWaitForTransactionRequest' },
)

export const SubmitForTransactionAnswer = Type.Object(
  { transaction: JsTransaction },
  { title: 'JsSubmitAndWaitForTransactionResponse' },
)

export const VersionAnswer = Type.Object(
  {
    version: Type.String(),
    features: Type.Object({
      experimental: Type.Object({
        staticTime: Type.Object({ supported: Type.Boolean() }),
        commandInspectionService: Type.Object({ supported: Type.Boolean() }),
      }),
      userManagement: Type.Object({
        supported: Type.Boolean(),
        maxRightsPerUser: Int32,
        maxUsersPageSize: Int32,
      }),
      partyManagement: Type.Object({ maxPartiesPageSize: Int32 }),
      offsetCheckpoint: Type.Object({ maxOffsetCheckpointEmissionDelay: WireDuration }),
      packageFeature: Type.Object({ maxVettedPackagesPageSize: Int32 }),
    }),
  },
  { title: 'GetLedgerApiVersionResponse' },
)
