/** The network's parties, rules, addresses and genesis; health of a process. */
import { MEMBER_HEALTHS } from '@quorumscan/errors/node-words'
import { Type } from 'typebox'
import { ContractWithState } from './contracts.ts'
import * as m from './members.ts'
import { Decimal, Hex32, LedgerOffset, NodeName, Party, Signature, Time } from './scalars.ts'

export const DsoPartyIdAnswer = m.component('DsoPartyIdAnswer', 'The operator of the network.', {
  dso_party_id: m.about(Party, 'The operator party.'),
})

export const DsoAnswer = m.component(
  'DsoAnswer',
  'With `shared=true` a node leaves out sv_user and sv_party_id.',
  {
    sv_user: Type.Optional(m.string('The answering node.')),
    sv_party_id: m.omittable(Party, 'Its party.'),
    dso_party_id: m.about(Party, 'The operator party.'),
    voting_threshold: m.integer(1, 'Confirmations that an operator action needs.'),
    latest_mining_round: m.about(ContractWithState, 'The newest open round, with the coin price.'),
    coin_rules: m.about(ContractWithState, 'The rules of coin.'),
    amulet_rules: m.about(ContractWithState, 'The same, for clients of upstream.'),
    dso_rules: m.about(ContractWithState, 'The rules of the network, with its super-validators.'),
    sv_node_states: m.array('Their nodes.', ContractWithState),
    initial_round: m.string('The first round, decimal.'),
  },
)

const protocolVersion = (description: string) => m.integer(1, description)

export const ProposalsAnswer = m.component(
  'ProposalsAnswer',
  'As the node has it at its head, without proof.',
  {
    voting_threshold: m.integer(1, 'Super-validators that must confirm.'),
    confirmations: m.array('One for each super-validator and kind of change.', ContractWithState),
    protocol: m.part('Versions of the protocol.', {
      version: protocolVersion('The one in force.'),
      newest_known: protocolVersion('The newest that the software of this node knows.'),
      next: m.orNull(
        Type.Object({
          version: protocolVersion('The next version.'),
          not_before: m.about(Time, 'It is in force from this record time on.'),
        }),
        'The next change; null: none.',
      ),
    }),
  },
)

export const ScansAnswer = m.component('ScansAnswer', 'Address records, each signed by its node.', {
  scans: m.rows('By synchronizer.', {
    domainId: m.string('The synchronizer.'),
    scans: m.rows('One for each node.', {
      publicUrl: m.string('The address of the node.'),
      svName: NodeName,
      sequence: m.integer(0, 'The record with the highest counts.'),
      signature: m.about(Signature, 'The signature of the record, by the node.'),
    }),
  }),
})

const micros = (what: string) => m.integer(1, `${what}, in microseconds.`)

export const EntryJudgement = m.component(
  'EntryJudgement',
  'What a log entry would do as the next one, or did.',
  {
    offset: m.about(LedgerOffset, 'The newest offset that the node has applied.'),
    refusal: m.orNull(
      Type.String(),
      'Why each replica would refuse or ignore the entry, or did; null: it would have an effect, or had one.',
    ),
    is_applied: m.about(
      Type.Boolean(),
      'Whether the entry is one of the newest that the node has applied: `refusal` is then its outcome.',
    ),
    growth: m.about(
      Type.Integer(),
      'Bytes by which the state would grow; negative if it would shrink, 0 without an effect or once it is applied.',
    ),
  },
)

/** `parseGenesis` of `packages/verifier` is the strict check; this is its shape for documents. */
export const GenesisAnswer = m.component(
  'Genesis',
  'Its RFC 8785 form hashes to the genesis hash.',
  {
    version: Type.Literal(3, { description: 'The version of the form.' }),
    protocolVersion: m.integer(1, 'The version of the protocol that the network begins with.'),
    nonce: m.about(Hex32, 'Random: no two networks share a genesis hash.'),
    recordTime: micros('The record time of offset 0, since the epoch'),
    synchronizerId: m.about(Party, 'The synchronizer.'),
    ordering: m.either('What orders the log.', [
      m.part('One synchronizer.', {
        driver: Type.Literal('redis', { description: 'The kind.' }),
        key: m.about(Hex32, 'Signs groups of the log.'),
      }),
      m.part('All members together, by CometBFT.', {
        driver: Type.Literal('cometbft', { description: 'The kind.' }),
        validators: m.rows('One for each node, in the same order.', {
          name: NodeName,
          key: m.about(Hex32, 'Signs its votes on blocks.'),
          nodeId: m.formed('^[0-9a-f]{40}$', 'The id of its engine.'),
        }),
        timeouts: m.part('Whole milliseconds.', {
          proposeMicros: micros('Longest wait for a proposal'),
          voteMicros: micros('Longest wait for votes of a round'),
          commitMicros: micros('From a block to the next one'),
          emptyBlockMicros: micros('Between blocks while there is nothing to order'),
        }),
        blockBytesMax: m.integer(1, 'Bytes of what a block adds to the log.'),
        blockContractsMax: m.integer(1, 'Contracts that the entries of a block name.'),
        evidenceAge: Type.Optional(
          m.part('How long evidence is valid; absent: 2 days and 100 000 blocks.', {
            micros: micros('The minimum time'),
            blocks: m.integer(1, 'The minimum number of blocks.'),
          }),
        ),
      }),
    ]),
    dso: m.about(Party, 'The operator party, which has no key.'),
    nodes: m.rows('The super-validators.', {
      name: NodeName,
      scanKey: m.about(Hex32, 'Signs its answers.'),
      operatorKey: m.about(Hex32, 'Signs its submissions.'),
    }),
    devnet: m.boolean('Whether `tap` creates coin.'),
    names: m.part('Rules of names.', {
      entryFeeUsd: m.about(Decimal, 'What a name costs, an amount of USD.'),
      entryLifetimeMicros: micros('How long a payment is valid'),
      renewalDurationMicros: micros('How long before its end it can be renewed'),
      descriptionPrefix: m.string('The start of the text of a subscription.'),
      requestLifetimeMicros: micros('How long a request can be paid'),
      openRequestsMax: m.integer(1, 'Open requests of a party.', { maximum: 1000 }),
    }),
    coin: m.part('Rules of coin.', {
      tickMicros: micros('How long a round lasts'),
      priceUsd: m.about(Decimal, 'The price of one coin, an amount of USD.'),
      rewardPerRound: m.about(Decimal, 'For each super-validator, an amount of coin.'),
    }),
    deduplicationMicrosMax: m.integer(600_000_000, 'The longest deduplication, in microseconds.'),
    activityRetentionMicros: micros('How long activities are kept'),
    stateBytesPerDay: Type.Optional(
      m.integer(
        65_536,
        'Bytes that a participant adds to the state in a day at most; absent: 32 MiB.',
      ),
    ),
  },
)

const count = (what: string) => m.integer(0, what)
/** The state of a reader of several nodes; counts since its start. */
const ReaderStatus = m.component('ReaderStatus', 'How the scan nodes answer the scan proxy.', {
  nodeCount: count('Nodes of the genesis.'),
  faultyMax: count('How many of them may lie.'),
  floor: m.about(LedgerOffset, 'No read is older than this.'),
  waiting: count('Reads in progress.'),
  clock: m.part('What the nodes prove of the clock of this process.', {
    skewMs: m.orNull(
      Type.Integer({ minimum: 10_000 }),
      'By how many milliseconds it lags the newest record time that f+1 nodes state; null: by less than 10 s.',
    ),
  }),
  nodes: m.rows('How each of them answers.', {
    name: NodeName,
    url: m.orNull(Type.String(), 'Its address, if known.'),
    sequence: m.orNull(Type.Integer({ minimum: 0 }), 'The sequence number of its address record.'),
    state: m.string('unknown, live, silent or failing.'),
    head: m.orNull(LedgerOffset, 'The newest offset that it has claimed.'),
    requests: count('Requests to it.'),
    errors: count('Those that failed.'),
    lastError: m.orNull(Type.String(), 'Why the last of them failed.'),
    votes: count(
      'Answers of it. A lookup asks as many nodes as must agree, and a sample of them all nodes.',
    ),
    dissents: count('Answers of it that were outvoted, of those that it was asked for.'),
    latencyMs: m.orNull(Type.Number(), 'The latency of its answers, in milliseconds.'),
    latencyMsLast: m.orNull(Type.Number(), 'The latency of its last answer.'),
  }),
  forks: m.rows('An alarm: the histories of the nodes; `local` is the replica of this validator.', {
    offset: m.about(LedgerOffset, 'The offset at which they differ.'),
    histories: m.rows('The histories at this offset.', {
      historyHash: m.about(Hex32, 'The history hash.'),
      nodes: m.array('The nodes that have it.', Type.String()),
    }),
  }),
})

export const StatusAnswer = m.component('NodeStatus', 'The state of the process.', {
  success: m.part('Always present.', {
    id: m.string('Which process it is.'),
    uptime: m.string('ISO-8601 duration.'),
    ports: m.record('The ports on which it listens.', Type.Integer()),
    active: m.boolean('Whether it does its work.'),
    extra: m.part('Its state.', {
      state: m.string('What the process is doing.'),
      offset: m.orNull(LedgerOffset, 'The newest offset applied.'),
      recordTime: m.orNull(Time, 'Its record time.'),
      clockOffsetMs: Type.Optional(
        m.orNull(
          Type.Integer(),
          'How far its clock is ahead of its peers; null while too few answer.',
        ),
      ),
      detail: Type.Optional(m.orNull(Type.String(), 'What an operator must know.')),
      ordering: Type.Optional(
        m.part('Ordering by all members, as this process sees it.', {
          height: Type.Integer({ description: 'The height of the newest block.' }),
          round: m.orNull(
            Type.Integer(),
            'The round of the block before it; above 0, a proposer was absent.',
          ),
          connected: m.array('Members whose engines are connected to this one.', Type.String()),
          absent: m.array('Members whose votes on that block were missing.', Type.String()),
        }),
      ),
      members: Type.Optional(
        m.rows('The super-validators, as this process judges them.', {
          name: m.string('Its name.'),
          health: m.about(
            Type.Enum([...MEMBER_HEALTHS]),
            '`silent`: it does not answer. `behind`: it answers no lookups, or lacks the newest entries of the log. `unsigned`: for 30 s it did not sign what f + 1 members signed. Only a healthy one counts.',
          ),
          signedOffset: m.orNull(
            LedgerOffset,
            'The newest offset whose state it signed as f + 1 members did.',
          ),
          unsignedSeconds: Type.Integer({
            description: 'How long f + 1 others have signed newer states while it signed none.',
          }),
        }),
      ),
      reader: Type.Optional(ReaderStatus),
      memory: Type.Optional(
        m.orNull(
          m.part('The memory of its Redis.', {
            usedBytes: Type.Integer({ description: 'What Redis uses.' }),
            maxBytes: Type.Integer({ description: 'Its limit.' }),
            daysLeft: m.orNull(
              Type.Number(),
              'Days until the log accepts no entry that adds, at the rate of the last day; null while it does not grow, or in the first ten minutes.',
            ),
          }),
          'The memory of its Redis; null while it is not known, or has no limit.',
        ),
      ),
    }),
  }),
})

export const VersionAnswer = m.component('Version', 'What is running.', {
  version: m.string('The version of the software.'),
  commit_ts: m.string('When it was committed, ISO-8601.'),
})
