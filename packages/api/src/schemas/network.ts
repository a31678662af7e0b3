/** The network's parties, rules, addresses and genesis; health of a process. */
import { Type } from 'typebox'
import { ContractWithState } from './contracts.ts'
import { about, component, nullable, part } from './members.ts'
import { Decimal, Hex32, LedgerOffset, NodeName, Party, Signature, Time } from './scalars.ts'

export const DsoPartyIdAnswer = component('DsoPartyIdAnswer', 'Who operates the network.', {
  dso_party_id: about(Party, 'The operator party.'),
})

export const DsoAnswer = component(
  'DsoAnswer',
  'With `shared=true` a node leaves out sv_user and sv_party_id.',
  {
    sv_user: Type.Optional(Type.String({ description: 'The answering node.' })),
    sv_party_id: Type.Optional(about(Party, 'Its party.')),
    dso_party_id: about(Party, 'The operator party.'),
    voting_threshold: Type.Integer({
      minimum: 1,
      description: 'Confirmations that an operator action needs.',
    }),
    latest_mining_round: about(ContractWithState, 'The newest open round, with the coin price.'),
    coin_rules: about(ContractWithState, 'The rules of coin.'),
    amulet_rules: about(
      ContractWithState,
      'The same, under the name that clients of upstream read.',
    ),
    dso_rules: about(ContractWithState, 'The rules of the network, with its super-validators.'),
    sv_node_states: Type.Array(ContractWithState, { description: 'Their nodes.' }),
    initial_round: Type.String({ description: 'The first round, decimal.' }),
  },
)

const protocolVersion = (description: string) => Type.Integer({ minimum: 1, description })

export const ProposalsAnswer = component(
  'ProposalsAnswer',
  'As the node knows it at its head; no other node vouches for it.',
  {
    voting_threshold: Type.Integer({
      minimum: 1,
      description: 'Super-validators that must confirm the same.',
    }),
    confirmations: Type.Array(ContractWithState, {
      description: 'One for each super-validator and kind of change: who wants which.',
    }),
    protocol: part('Versions of the protocol.', {
      version: protocolVersion('The one in force.'),
      newest_known: protocolVersion('The newest that the software of this node knows.'),
      next: about(
        nullable(
          Type.Object({
            version: protocolVersion('What was voted for.'),
            not_before: about(Time, 'It holds from the first entry with this record time.'),
          }),
        ),
        'What is to come; null: nothing.',
      ),
    }),
  },
)

export const ScansAnswer = component('ScansAnswer', 'Address records, each signed by its node.', {
  scans: Type.Array(
    Type.Object({
      domainId: Type.String({ description: 'The synchronizer.' }),
      scans: Type.Array(
        Type.Object({
          publicUrl: Type.String({ description: 'Where the node is reached.' }),
          svName: NodeName,
          sequence: Type.Integer({
            minimum: 0,
            description: 'Of two records of a node, the higher one counts.',
          }),
          signature: about(Signature, "The node's, of the record."),
        }),
        { description: 'One a node.' },
      ),
    }),
    { description: 'By synchronizer.' },
  ),
})

const micros = (what: string) =>
  Type.Integer({ minimum: 1, description: `${what}, in microseconds.` })

/** `parseGenesis` of `packages/verifier` is the strict check; this is its shape for documents. */
export const GenesisAnswer = component('Genesis', 'Its RFC 8785 form hashes to the genesis hash.', {
  version: Type.Literal(3, { description: 'Of the form.' }),
  protocolVersion: Type.Integer({
    minimum: 1,
    description: 'The version of the protocol that the network begins with.',
  }),
  nonce: about(Hex32, 'Random: no two networks share a genesis hash.'),
  recordTime: micros('The record time of offset 0, since the epoch'),
  synchronizerId: about(Party, 'The synchronizer.'),
  ordering: Type.Union(
    [
      part('One synchronizer.', {
        driver: Type.Literal('redis', { description: 'The kind.' }),
        key: about(Hex32, 'Signs groups of the log.'),
      }),
      part('All members together, by CometBFT.', {
        driver: Type.Literal('cometbft', { description: 'The kind.' }),
        validators: Type.Array(
          Type.Object({
            name: NodeName,
            key: about(Hex32, 'Signs its votes on blocks.'),
            nodeId: Type.String({
              pattern: '^[0-9a-f]{40}$',
              description: 'What its engine proves to be.',
            }),
          }),
          { description: 'One for each node, in the same order.' },
        ),
        timeouts: part('Whole milliseconds.', {
          proposeMicros: micros('Longest wait for a proposal'),
          voteMicros: micros('Longest wait for votes of a round'),
          commitMicros: micros(
            'From a block to the next one: for late votes, and for what is offered meanwhile',
          ),
          emptyBlockMicros: micros('Between blocks while there is nothing to order'),
        }),
        blockBytesMax: Type.Integer({
          minimum: 1,
          description: 'Bytes of what a block adds to the log.',
        }),
        blockContractsMax: Type.Integer({
          minimum: 1,
          description: 'Contracts that the entries of a block name.',
        }),
        evidenceAge: Type.Optional(
          part('How long two votes for one step are evidence; absent: 2 days and 100 000 blocks.', {
            micros: micros('At least so long'),
            blocks: Type.Integer({ minimum: 1, description: 'And so many blocks.' }),
          }),
        ),
      }),
    ],
    { description: 'Who puts entries in order.' },
  ),
  dso: about(Party, 'The operator party; nobody has its key.'),
  nodes: Type.Array(
    Type.Object({
      name: NodeName,
      scanKey: about(Hex32, 'Signs its answers.'),
      operatorKey: about(Hex32, 'Signs its submissions.'),
    }),
    { description: 'The super-validators.' },
  ),
  devnet: Type.Boolean({ description: 'Whether coin can be had for nothing.' }),
  names: part('Rules of names.', {
    entryFeeUsd: about(Decimal, 'What a name costs, in USD.'),
    entryLifetimeMicros: micros('How long a payment lasts'),
    renewalDurationMicros: micros('How long before its end it can be renewed'),
    descriptionPrefix: Type.String({
      description: 'What the text of a subscription begins with.',
    }),
    requestLifetimeMicros: micros('After this a request that nobody paid expires'),
    openRequestsMax: Type.Integer({
      minimum: 1,
      maximum: 1000,
      description: 'Open requests of a party.',
    }),
  }),
  coin: part('Rules of coin.', {
    tickMicros: micros('How long a round lasts'),
    priceUsd: about(Decimal, 'The price of a coin, in USD.'),
    rewardPerRound: about(Decimal, 'What each super-validator gets a round.'),
  }),
  deduplicationMicrosMax: Type.Integer({
    minimum: 600_000_000,
    description: 'The longest deduplication period, in microseconds.',
  }),
  activityRetentionMicros: micros('How long activities are kept'),
})

const count = (what: string) => Type.Integer({ minimum: 0, description: what })
const orNull = <Schema extends Type.TSchema>(schema: Schema, what: string) =>
  about(nullable(schema), what)

/** What a reader of several nodes knows of them, counted since it was started. */
const ReaderStatus = component('ReaderStatus', 'How the scan nodes answer the scan proxy.', {
  nodeCount: count('Nodes of the genesis.'),
  faultyMax: count('How many of them may lie.'),
  floor: about(LedgerOffset, 'No read is older than this.'),
  waiting: count('Reads under way.'),
  nodes: Type.Array(
    Type.Object({
      name: NodeName,
      url: orNull(Type.String(), 'Where it is reached, if known.'),
      sequence: orNull(Type.Integer({ minimum: 0 }), 'Of its address record.'),
      state: Type.String({ description: 'unknown, live, silent or failing.' }),
      head: orNull(LedgerOffset, 'The newest offset that it has claimed.'),
      requests: count('Requests to it.'),
      errors: count('Those that failed.'),
      lastError: orNull(Type.String(), 'Why the last of them failed.'),
      votes: count('Answers of it.'),
      dissents: count('Answers of it that were outvoted.'),
      latencyMs: orNull(Type.Number(), 'How long it takes, in milliseconds.'),
      latencyMsLast: orNull(Type.Number(), 'How long it took last.'),
    }),
    { description: 'How each of them answers.' },
  ),
  forks: Type.Array(
    Type.Object({
      offset: about(LedgerOffset, 'Where they differ.'),
      histories: Type.Array(
        Type.Object({
          historyHash: about(Hex32, 'What they hold.'),
          nodes: Type.Array(Type.String(), { description: 'Who holds it.' }),
        }),
        { description: 'What is held there.' },
      ),
    }),
    { description: 'An alarm: who holds which history, `local` being the own replica.' },
  ),
})

export const StatusAnswer = component('NodeStatus', 'Where the process stands.', {
  success: part('Always there: who can answer has started.', {
    id: Type.String({ description: 'Which process it is.' }),
    uptime: Type.String({ description: 'ISO-8601 duration.' }),
    ports: Type.Record(Type.String(), Type.Integer(), { description: 'Where it listens.' }),
    active: Type.Boolean({ description: 'Whether it does its work.' }),
    extra: part('Where it stands.', {
      state: Type.String({ description: 'What it is doing.' }),
      offset: orNull(LedgerOffset, 'The newest offset applied.'),
      recordTime: orNull(Time, 'Its record time.'),
      clockOffsetMs: Type.Optional(
        orNull(
          Type.Integer(),
          'By how much the clock of the process is ahead of those of its peers; null while too few answer.',
        ),
      ),
      detail: Type.Optional(orNull(Type.String(), 'What an operator must know beside the state.')),
      ordering: Type.Optional(
        part('Where all members order together: how they do, as this one sees it.', {
          height: Type.Integer({ description: 'Of the newest block.' }),
          round: orNull(
            Type.Integer(),
            'In which the block before it was decided; above 0, a proposer was away. Null at the start.',
          ),
          connected: Type.Array(Type.String(), {
            description: 'Members whose engines are connected to this one.',
          }),
          absent: Type.Array(Type.String(), {
            description: 'Members whose votes on that block were missed.',
          }),
        }),
      ),
      reader: Type.Optional(ReaderStatus),
    }),
  }),
})

export const VersionAnswer = component('Version', 'What is running.', {
  version: Type.String({ description: 'Of the software.' }),
  commit_ts: Type.String({ description: 'When it was committed, ISO-8601.' }),
})
