/** Grows a participant's history of updates: taps, which a replica applies. */

import { assert, type KeyPair } from '@quorumscan/base'
import { walletJobs } from '@quorumscan/jobs'
import {
  allocatePartyCommand,
  coinRules,
  disclose,
  encodeEntry,
  genesisDelta,
  isOf,
  tapCommand,
} from '@quorumscan/ledger'
import {
  AMOUNT_SCALE,
  type Command,
  type PartyId,
  participantOfKey,
  partyIdOf,
} from '@quorumscan/model'
import { openReplica } from '@quorumscan/replica'
import type { TestNetwork } from '@quorumscan/testkit'
import { lateClock } from '../names/grow.ts'
import { createMemoryLog } from '../names/memory-ordering.ts'

/** Entries that are signed and appended together. */
const BATCH_ENTRIES = 500
const STEP_MICROS = 1_000
const NOT_AFTER_MICROS = 60_000_000

/** Returns the party that sees every update. A validator can then start on the Redis. */
export async function growUpdates(options: {
  readonly network: TestNetwork
  readonly socketPath: string
  readonly keyPair: KeyPair
  readonly count: number
}): Promise<PartyId> {
  const { keyPair, count, network } = options
  const { genesis, genesisHash } = network
  const party = partyIdOf('reader', keyPair.publicKey)
  assert(party !== undefined, 'the hint is valid')
  const rules = genesisDelta(genesis, genesisHash).created.find((one) => isOf(coinRules, one))
  assert(rules !== undefined, 'the genesis has coin rules')
  await using replica = await openReplica({
    redis: { path: options.socketPath },
    genesis,
    genesisHash,
    participant: participantOfKey(keyPair.publicKey),
    dueJobs: walletJobs.map(({ name }) => name),
    clock: lateClock(network),
  })
  const log = createMemoryLog(genesis.recordTime)
  const stopping = new AbortController()
  const running = replica.run(log, stopping.signal)
  const append = (actAs: readonly PartyId[], command: Command, copies: number) =>
    new Promise<void>((resolve) => {
      const first = log.entries.length
      const stop = replica.onApplied(({ offset, result }) => {
        assert(result.kind === 'accepted', `the ledger accepts every entry, not ${result.kind}`)
        if (offset < first + copies) return
        stop()
        resolve()
      })
      const sign = (_: unknown, index: number) => {
        const id = String(first + index).padStart(32, '0')
        const submission = {
          genesis: genesisHash,
          participant: keyPair.publicKey,
          id,
          notAfter: replica.head().recordTime + NOT_AFTER_MICROS,
          userId: 'bench',
          actAs,
          readAs: [],
          commandId: id,
          submissionId: '',
          workflowId: '',
          deduplication: { kind: 'duration', micros: 0 } as const,
          disclosed: actAs.length === 0 ? [] : [disclose(rules)],
          commands: [command],
        }
        return encodeEntry(submission, keyPair)
      }
      log.append(Array.from({ length: copies }, sign), STEP_MICROS)
    })
  await append([], allocatePartyCommand({ hint: 'reader' }), 1)
  const tap = tapCommand({
    coinRules: rules.contractId,
    receiver: party,
    amount: AMOUNT_SCALE,
  })
  for (let done = 0; done < count; done += BATCH_ENTRIES)
    await append([party], tap, Math.min(BATCH_ENTRIES, count - done))
  stopping.abort()
  await running
  return party
}
