/** How the validator submits: commands of wallets and of the ledger interface, and the jobs of its wallets. */
import { FIRST_ADMIN_USER } from '@quorumscan/auth'
import { type KeyPair, openAll } from '@quorumscan/base'
import type { Follower } from '@quorumscan/follower'
import { openJobs, QUEUES_OF } from '@quorumscan/jobs'
import { Dispatcher } from '@quorumscan/ledger-api'
import { type Micros, participantOfKey, partyParticipant } from '@quorumscan/model'
import type { RateLimitedLog } from '@quorumscan/runtime'
import type { App } from '@quorumscan/server'
import { createCheckedSubmitter, createGrowthShares, createSubmitter } from '@quorumscan/submit'
import type { AutoRenewal, ValidatorStore } from '@quorumscan/users'
import { STATE_BYTES_PER_DAY } from '@quorumscan/verifier'
import { createPartyQueue, judgeRenewal, payDueRenewal } from '@quorumscan/wallet'
import { rightsToAct, withRightsToAct } from './acting-rights.ts'
import { watchSecondMachine } from './second-machine.ts'

/** @throws {ScanError} DEPENDENCY_UNAVAILABLE if Redis does not answer. */
export async function openSubmission(
  app: App,
  parts: {
    readonly follower: Pick<Follower, 'assertLive' | 'isLive' | 'ordering' | 'redis' | 'replica'>
    readonly keyPair: KeyPair
    readonly store: Pick<ValidatorStore, 'autoRenewals' | 'outbox' | 'parties' | 'users'>
    readonly alarms: RateLimitedLog
  },
) {
  const { clock, random, genesis, genesisHash, logger } = app
  const { follower, keyPair, store, alarms } = parts
  const { assertLive, isLive, redis, replica: ledger } = follower
  const { publicKey: participant } = keyPair
  const { deduplicationMicrosMax: deduplicationMicros } = genesis
  /** The earliest record time that a command submitted now can get, if all clocks are right. */
  const now = (): Micros => Math.max(ledger.head().recordTime, clock.nowMicros())
  const secondMachine = watchSecondMachine(follower.ordering, {
    publicKey: participant,
    genesisHash,
    isLive,
    now,
    onFound: ({ offset }, text) =>
      alarms.write('second machine', (suppressed) => logger.error({ offset, ...suppressed }, text)),
  })
  const { ordering } = secondMachine
  const growth = createGrowthShares({
    bytesPerDay: genesis.stateBytesPerDay ?? STATE_BYTES_PER_DAY,
    clock,
  })
  const unchecked = createSubmitter({ genesisHash, keyPair, ordering, ledger, clock, random })
  const submitter = createCheckedSubmitter({
    ledger,
    submitter: unchecked,
    genesisHash,
    participant,
    deduplicationMicros,
    clock,
    random,
    growth,
    assertLive,
  })
  const { autoRenewals } = store
  const mayAct = rightsToAct(store)
  const queue = createPartyQueue()
  const ofUsers = withRightsToAct(submitter, mayAct)
  const userOf = async (renewal: AutoRenewal) => (await judgeRenewal(store, renewal)).user
  const renewing = { ledger, submitter: ofUsers, queue, autoRenewals, userOf }
  return openAll(async (resources) => {
    const dispatcher = resources.opened(
      await Dispatcher.create({
        genesisHash,
        keyPair,
        outbox: store.outbox,
        ledger,
        ordering,
        clock,
        random,
        mayAct,
        onProblem: (err) =>
          logger.warn(
            { err },
            'the log refused a submission, or its outcome was not stored: it stays pending until the log decides',
          ),
      }),
    )
    resources.opened(
      await openJobs(app, {
        ...QUEUES_OF.validator,
        redis,
        ledger,
        isLive,
        deps: {
          ledger,
          // Refunds and ends of offers give parties their coin back, whatever their users may do.
          userId: FIRST_ADMIN_USER,
          // A dry run comes first: another signatory may have been faster.
          submit: (input, { signal }) => submitter.submit(input, signal),
          isHosted: (party) => partyParticipant(party) === participantOfKey(participant),
          areAutoRenewed: async (references) =>
            (await autoRenewals.find(references)).map((renewal) => renewal !== null),
          payRenewal: (idle, signal) => payDueRenewal(renewing, idle, signal),
        },
        turn: { index: 0, count: 1 },
      }),
    )
    return {
      autoRenewals,
      submitter: ofUsers,
      mayAct,
      dispatcher,
      growth,
      now,
      ordering,
      queue,
      secondMachine,
    }
  })
}
