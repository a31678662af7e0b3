/** Describes in words what a genesis document fixes. */

import { formatDuration } from '@quorumscan/model'
import {
  EVIDENCE_AGE,
  formatInstant,
  type Genesis,
  type GenesisOrdering,
  memberSetOf,
  STATE_BYTES_PER_DAY,
} from '@quorumscan/verifier'
import { hashGenesis } from '../genesis.ts'
import { describeCoin } from './describe-coin.ts'

/** Lines of text, each about one thing. */
export function describeGenesis(genesis: Genesis): readonly string[] {
  const { names, coin } = genesis
  const { members, n, f, quorum } = memberSetOf(genesis)
  const duration = formatDuration
  const bytesPerDay = genesis.stateBytesPerDay ?? STATE_BYTES_PER_DAY
  return [
    `hash ${hashGenesis(genesis)}`,
    `It begins at ${formatInstant(genesis.recordTime)}, with version ${genesis.protocolVersion} of the protocol.`,
    `${n} super-validators, of which ${f} may lie or fail. An answer needs ${f + 1} that agree, a decision of operators ${quorum}.`,
    ...members.flatMap(({ name, scanKey, operatorKey }) => [
      `${name} signs the states of its replica with the key ${scanKey}`,
      `${name} decides with the key ${operatorKey}`,
    ]),
    ...describeOrdering(genesis.ordering),
    `A name costs ${names.entryFeeUsd} USD for ${duration(names.entryLifetimeMicros)}. From ${duration(names.renewalDurationMicros)} before it expires it can be renewed, for another ${duration(names.entryLifetimeMicros)} at the same price. These rules can be changed later.`,
    `An unpaid request ends after ${duration(names.requestLifetimeMicros)}; a party may have ${names.openRequestsMax} open. Requests are described by "${names.descriptionPrefix}" and the name.`,
    `A coin is worth ${coin.priceUsd} USD; a round lasts ${duration(coin.tickMicros)} and pays ${coin.rewardPerRound} to each super-validator.`,
    genesis.devnet
      ? 'Every user can create coin for free: this network is for development.'
      : 'Coin is created only by the rewards of super-validators.',
    ...describeCoin(genesis).meaning,
    `A command is recognised as a duplicate for at most ${duration(genesis.deduplicationMicrosMax)}; activities are shown for ${duration(genesis.activityRetentionMicros)}.`,
    `A participant adds at most ${mebibytes(bytesPerDay)} a day to the state that each node has in memory, which is ${mebibytes(30 * bytesPerDay)} in 30 days. Each log lets all anonymous addresses together add as much.`,
    `Parties of the network: ${genesis.dso}, ${genesis.synchronizerId}.`,
  ]
}

function mebibytes(bytes: number): string {
  return `${Math.round((10 * bytes) / 2 ** 20) / 10} MiB`
}

function describeOrdering(ordering: GenesisOrdering): readonly string[] {
  if (ordering.driver === 'redis')
    return [
      `One synchronizer orders the log, with the key ${ordering.key}. While it is down nothing is ordered.`,
    ]
  const { proposeMicros, voteMicros, commitMicros, emptyBlockMicros } = ordering.timeouts
  const age = ordering.evidenceAge ?? EVIDENCE_AGE
  return [
    'All super-validators order the log together, by CometBFT.',
    ...ordering.validators.flatMap(({ name, key, nodeId }) => [
      `${name} votes with the key ${key}`,
      `${name} has the engine ${nodeId}`,
    ]),
    `A proposer has ${formatDuration(proposeMicros)}, votes have ${formatDuration(voteMicros)}, and after a block members wait ${formatDuration(commitMicros)} for what belongs into the next; an idle network makes a block every ${formatDuration(emptyBlockMicros)}.`,
    `A block has at most ${ordering.blockBytesMax} bytes and names ${ordering.blockContractsMax} contracts.`,
    `Two votes for one step are evidence for ${formatDuration(age.micros)} and ${age.blocks} blocks, and engines keep their blocks for as long.`,
  ]
}
