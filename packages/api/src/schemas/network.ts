/** The network's parties, rules, addresses and genesis; health of a process. */
import { Type } from 'typebox'
import { ContractWithState } from './contracts.ts'
import { Decimal, Hex32, LedgerOffset, NodeName, Party, Time } from './scalars.ts'

export const DsoPartyIdAnswer = Type.Object({ dso_party_id: Party }, { title: 'DsoPartyIdAnswer' })

export const DsoAnswer = Type.Object(
  {
    sv_user: Type.Optional(Type.String()),
    sv_party_id: Type.Optional(Party),
    dso_party_id: Party,
    voting_threshold: Type.Integer({ minimum: 1 }),
    latest_mining_round: ContractWithState,
    coin_rules: ContractWithState,
    dso_rules: ContractWithState,
    sv_node_states: Type.Array(ContractWithState),
    initial_round: Type.String(),
  },
  {
    title: 'DsoAnswer',
    description: 'With `shared=true` a node leaves out sv_user and sv_party_id (D-10).',
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
            signature: Type.String({ pattern: '^[0-9a-f]{128}$' }),
          }),
        ),
      }),
    ),
  },
  { title: 'ScansAnswer', description: 'Address records, each signed by its node (D-34).' },
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
    }),
    coin: Type.Object({ tickMicros: micros, priceUsd: Decimal, rewardPerRound: Decimal }),
    deduplicationMicrosMax: micros,
    activityRetentionMicros: micros,
  },
  { title: 'Genesis', description: 'Its RFC 8785 form hashes to the genesis hash (D-41).' },
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
      }),
    }),
  },
  { title: 'NodeStatus' },
)

export const VersionAnswer = Type.Object(
  { version: Type.String(), commit_ts: Type.String({ description: 'ISO-8601.' }) },
  { title: 'Version' },
)
