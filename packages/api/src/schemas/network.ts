/** The network's parties, rules, addresses and genesis; health of a process. */
import { Type } from 'typebox'
import { ContractWithState } from './contracts.ts'
import { Decimal, Hex32, LedgerOffset, NodeName, Party, Signature, Time } from './scalars.ts'

export const DsoPartyIdAnswer = Type.Object({ dso_party_id: Party }, { title: 'DsoPartyIdAnswer' })

export const DsoAnswer = Type.Object(
  {
    sv_user: Type.Optional(Type.String()),
    sv_party_id: Type.Optional(Party),
    dso_party_id: Party,
    voting_threshold: Type.Integer({ minimum: 1 }),
    latest_mining_round: ContractWithState,
    coin_rules: ContractWithState,
    amulet_rules: ContractWithState,
    dso_rules: ContractWithState,
    sv_node_states: Type.Array(ContractWithState),
    initial_round: Type.String(),
  },
  {
    title: 'DsoAnswer',
    description: 'With `shared=true` a node leaves out sv_user and sv_party_id.',
  },
)

export const ScansAnswer = Type.Object(
  {
    scans: Type.Array(
      Type.Object({
        domainId: Type.String(),
        scans: Type.Array(
          Type.Object({
            publicUrl: Type.String(),
            svName: NodeName,
            sequence: Type.Integer({ minimum: 0 }),
            signature: Signature,
          }),
        ),
      }),
    ),
  },
  { title: 'ScansAnswer', description: 'Address records, each signed by its node.' },
)

const micros = Type.Integer({ minimum: 1, description: 'Microseconds.' })

/** `parseGenesis` of `packages/consensus` is the strict check; this is its shape for documents. */
export const GenesisAnswer = Type.Object(
  {
    version: Type.Literal(1),
    nonce: Hex32,
    recordTime: micros,
    synchronizerId: Party,
    synchronizerKey: Hex32,
    dso: Party,
    nodes: Type.Array(Type.Object({ name: NodeName, scanKey: Hex32, operatorKey: Hex32 })),
    devnet: Type.Boolean(),
    names: Type.Object({
      entryFeeUsd: Decimal,
      entryLifetimeMicros: micros,
      renewalDurationMicros: micros,
      descriptionPrefix: Type.String(),
      requestLifetimeMicros: micros,
      openRequestsMax: Type.Integer({ minimum: 1, maximum: 1000 }),
    }),
    coin: Type.Object({ tickMicros: micros, priceUsd: Decimal, rewardPerRound: Decimal }),
    deduplicationMicrosMax: Type.Integer({ minimum: 600_000_000, description: 'Microseconds.' }),
    activityRetentionMicros: micros,
  },
  { title: 'Genesis', description: 'Its RFC 8785 form hashes to the genesis hash.' },
)

const count = Type.Integer({ minimum: 0 })
const orNull = <const Schema extends Type.TSchema>(schema: Schema) =>
  Type.Union([schema, Type.Null()])

/** What a reader of several nodes knows of them, counted since it was started. */
const ReaderStatus = Type.Object(
  {
    nodeCount: count,
    faultyMax: count,
    floor: LedgerOffset,
    waiting: count,
    nodes: Type.Array(
      Type.Object({
        name: NodeName,
        url: orNull(Type.String()),
        sequence: orNull(count),
        state: Type.String({ description: 'unknown, live, silent or failing.' }),
        head: orNull(LedgerOffset),
        requests: count,
        errors: count,
        lastError: orNull(Type.String()),
        votes: count,
        dissents: count,
        latencyMs: orNull(Type.Number()),
        latencyMsLast: orNull(Type.Number()),
      }),
    ),
    forks: Type.Array(
      Type.Object({
        offset: LedgerOffset,
        histories: Type.Array(
          Type.Object({ historyHash: Hex32, nodes: Type.Array(Type.String()) }),
        ),
      }),
      { description: 'An alarm: who holds which history, `local` being the own replica.' },
    ),
  },
  { title: 'ReaderStatus', description: 'How the scan nodes answer the scan proxy.' },
)

export const StatusAnswer = Type.Object(
  {
    success: Type.Object({
      id: Type.String(),
      uptime: Type.String({ description: 'ISO-8601 duration.' }),
      ports: Type.Record(Type.String(), Type.Integer()),
      active: Type.Boolean(),
      extra: Type.Object({
        state: Type.String(),
        offset: Type.Union([LedgerOffset, Type.Null()]),
        recordTime: Type.Union([Time, Type.Null()]),
        reader: Type.Optional(ReaderStatus),
      }),
    }),
  },
  { title: 'NodeStatus' },
)

export const VersionAnswer = Type.Object(
  { version: Type.String(), commit_ts: Type.String({ description: 'ISO-8601.' }) },
  { title: 'Version' },
)
