/**
 * The coin that a super-validator earned: read from the replica of its own node, and offered to others by transfers that
 * its operator key signs (D-78).
 */
import { type Clock, type KeyPair, openAll, readKeyPair, systemRandom } from '@quorumscan/base'
import { readLogClientOptions } from '@quorumscan/config'
import { isScanError, ScanError } from '@quorumscan/errors'
import { OFFER_MICROS } from '@quorumscan/jobs'
import { svPartyOf } from '@quorumscan/ledger'
import { createLogClient, type LogClient } from '@quorumscan/log'
import { type Amount, formatDuration, isPartyId, type PartyId } from '@quorumscan/model'
import { openReplicaReads, type ReplicaReads } from '@quorumscan/replica'
import { CommandError, messageOf, UsageError } from '@quorumscan/runtime'
import {
  type CommandInput,
  createInFlight,
  refusalOf,
  signSubmission,
  submissionBody,
} from '@quorumscan/submit'
import { formatInstant, type Genesis, memberOf, memberSetOf } from '@quorumscan/verifier'
import { balanceOf, prepareTransfer, spend } from '@quorumscan/wallet'
import { hashGenesis } from './genesis.ts'
import type { OperatorConfig } from './run/operator-config.ts'
import { type OwnNode, scanConfigOf } from './run/operator-services.ts'
import { openOwnRedis } from './run/own-redis.ts'

/** Log, checkpoints and apply take well under a second; more means that something is down. */
const SUBMIT_MS_MAX = 15_000
const POLL_MS = 100
/** An idle log has one at least every 10 s. A replica that is older does not follow it. */
const LAG_MICROS_MAX = 15_000_000

/**
 * The rewards of an operator. Its node must run to send them.
 *
 * @throws {CommandError} If its Redis runs and does not answer, or does not start.
 */
export async function openRewards(node: OwnNode & { readonly config: OperatorConfig }) {
  const { config, clock } = node
  const { genesis, name } = config
  const scan = scanConfigOf(config)
  const keyPair = await readKeyPair(scan.operatorKeyFile)
  return openAll(async (resources) => {
    const { redis } = resources.opened(await openOwnRedis(node))
    const genesisHash = hashGenesis(genesis)
    const ledger = await openReplicaReads({ redis, genesis, genesisHash, clock })
    resources.onClose(() => ledger[Symbol.dispose]())
    const log = resources.opened(createLogClient(readLogClientOptions(scan, { clock })))
    return createRewards({ name, genesis, keyPair, ledger, log, clock })
  })
}

export function createRewards(deps: {
  /** The name of the super-validator. */
  readonly name: string
  readonly genesis: Genesis
  /** Its operator key. */
  readonly keyPair: KeyPair
  /** Of the replica of its node. */
  readonly ledger: ReplicaReads
  readonly log: Pick<LogClient, 'submit'>
  readonly clock: Clock
}) {
  const { name, genesis, ledger, clock } = deps
  const node = memberSetOf(genesis).members.find((one) => one.name === name)
  if (node === undefined) throw new UsageError(`the genesis names no super-validator ${name}`)
  const party = svPartyOf(node)
  const user = { userId: name, party }
  const deduplicationMicros = genesis.deduplicationMicrosMax

  return {
    party,
    /**
     * What the party has in coin, and the time at which its node read the log last.
     *
     * @throws {ScanError} NOT_READY if the node has never run.
     */
    async balance() {
      const { recordTime } = await ledger.head()
      const balance = await balanceOf(ledger, party)
      const { effective_unlocked_qty: available, effective_locked_qty: offered } = balance
      return { party, available, offered, asOf: formatInstant(recordTime) }
    },
    /**
     * Offers coin, once for each `id` within the deduplication period of the network. Returns the time until which the
     * receiver may accept the offer.
     *
     * @throws {UsageError} If the receiver is no other party of the network, or the coin does not suffice.
     * @throws {CommandError} If nothing was sent for another reason, or the outcome is not known.
     */
    async send(transfer: {
      readonly receiver: PartyId
      /** More than 0. */
      readonly amount: Amount
      readonly id: string
    }): Promise<{ readonly acceptBefore: string }> {
      const { receiver, amount, id: trackingId } = transfer
      if (!isPartyId(receiver) || !(await ledger.isPartyAllocated(receiver)))
        throw new UsageError(`nothing was sent: "${receiver}" is no party of this network`)
      if (receiver === party)
        throw new UsageError('nothing was sent: this party has the rewards already')
      const now = clock.nowMicros()
      const { recordTime } = await ledger.head()
      if (recordTime < now - LAG_MICROS_MAX)
        throw new CommandError(
          `nothing was sent: the node of ${name} does not follow the log. It has applied the entries until ${formatInstant(recordTime)}. Run it, and try again`,
        )
      const executeBefore = now + OFFER_MICROS
      const offer = { sender: party, receiver, amount, executeBefore, trackingId }
      const prepare = () => prepareTransfer(ledger, { ...offer, description: `rewards of ${name}` })
      const { signal } = new AbortController()
      const submitter = createPollingSubmitter({ ...deps, deduplicationMicros })
      await spend({ ledger, submitter }, { user, signal, prepare }).catch((error: unknown) => {
        throw isScanError(error) ? explain(error, deduplicationMicros) : error
      })
      return { acceptBefore: formatInstant(executeBefore) }
    },
  }
}

/** Submits for a party whose node is another process: that the ledger knows a command id shows that it took effect. */
function createPollingSubmitter(
  deps: Parameters<typeof createRewards>[0] & { readonly deduplicationMicros: number },
) {
  const { genesis, keyPair, ledger, log, clock } = deps
  const random = systemRandom
  const network = { genesisHash: hashGenesis(genesis), random }
  const deduplication = { kind: 'duration', micros: deps.deduplicationMicros } as const
  const bodyOf = (input: CommandInput) => submissionBody({ ...input, deduplication }, random)
  const refusalNow = async (body: ReturnType<typeof bodyOf>) => {
    const head = await ledger.head()
    const reads = { dryRun: ledger.dryRun, head: () => head }
    const dryRunDeps = { ...network, ledger: reads, participant: keyPair.publicKey }
    return await refusalOf(dryRunDeps, body, clock.nowMicros())
  }
  return {
    dryRun: (input: CommandInput) => refusalNow(bodyOf(input)),
    /** @throws {ScanError} The refusal; SUBMISSION_UNKNOWN if the outcome was not seen in time. */
    async submit(input: CommandInput): Promise<void> {
      const body = bodyOf(input)
      const before = await refusalNow(body)
      if (before !== null) throw before
      const notAfter = Math.ceil(clock.nowMicros()) + SUBMIT_MS_MAX * 1000
      const { bytes, entryHash } = signSubmission({ ...network, keyPair }, body, notAfter)
      const ended = new AbortController()
      let refused: unknown = null
      const inFlight = createInFlight({ ordering: log, clock, random, waitsForRoom: false })
      const attempt = inFlight.add(
        {
          entryHash,
          bytes: () => bytes,
          notBefore: 0,
          notAfter,
          signal: ended.signal,
          onApplied: () => {},
          onExpired: () => {},
          onRefused(error) {
            refused = error
          },
        },
        0,
      )
      const endMs = clock.monotonicMs() + SUBMIT_MS_MAX
      try {
        for (;;) {
          const refusal = await refusalNow(body)
          if (isScanError(refusal, 'DUPLICATE_COMMAND')) return
          // Its inputs are gone, so that it cannot take effect any more.
          if (isScanError(refusal, 'CONTRACT_CONSUMED', 'CONTRACT_NOT_FOUND')) throw refusal
          if (refused !== null) throw refused
          if (clock.monotonicMs() >= endMs) break
          await clock.delay(POLL_MS)
        }
      } finally {
        ended.abort()
        inFlight.remove(entryHash)
      }
      if (!attempt.mayBeInLog && attempt.refusal !== null) throw attempt.refusal
      throw new ScanError('SUBMISSION_UNKNOWN', 'the outcome was not seen in time')
    },
  }
}

function explain(error: ScanError, deduplicationMicros: number): CommandError {
  const { code, details } = error
  if (code === 'INSUFFICIENT_FUNDS')
    return new UsageError(
      `nothing was sent: the party has ${memberOf(details, 'available')} coin that is not offered or locked`,
    )
  if (code === 'DUPLICATE_COMMAND')
    return new CommandError(
      `nothing was sent now: the same transfer was sent within the last ${formatDuration(deduplicationMicros)}. To send it again, add \`--id\` with a new text`,
    )
  if (code === 'SUBMISSION_UNKNOWN')
    return new CommandError(
      'it is not known whether the coin was sent. Run the same command again: it is sent at most once',
      { cause: error },
    )
  return new CommandError(`nothing was sent: ${messageOf(error)}`, { cause: error })
}
