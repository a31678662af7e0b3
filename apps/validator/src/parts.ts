/** Opens everything that the handlers work with, and closes it in the opposite order. */
import { createVerifier, type VerifierConfig } from '@quorumscan/auth'
import { openAll, readKeyPair, readParsed } from '@quorumscan/base'
import {
  openNodeTokens,
  parseSharedSecret,
  trustRuleIn,
  type ValidatorConfig,
} from '@quorumscan/config'
import { openFollower } from '@quorumscan/follower'
import { dueJobsOf } from '@quorumscan/jobs'
import { createLedgerReads, participantIdOf } from '@quorumscan/ledger-api'
import { participantOfKey } from '@quorumscan/model'
import { readRedisAddress } from '@quorumscan/redis'
import { createFetch, createRateLimitedLog } from '@quorumscan/runtime'
import { createEvidenceStore, followEvidence } from '@quorumscan/scan-proxy'
import { type AppOverrides, createAppBase } from '@quorumscan/server'
import { openValidatorStore } from '@quorumscan/users'
import { isTrusted, memberSetOf } from '@quorumscan/verifier'
import {
  createPayments,
  createRegistration,
  followPayments,
  maintainRenewals,
  paymentHistory,
} from '@quorumscan/wallet'
import { createReadMetrics, measureUsers } from './metrics.ts'
import { openReads } from './reads.ts'
import { openSubmission } from './submission.ts'

/** The time between two log lines about one subject. */
const ALARM_PERIOD_MS = 60_000

export type ValidatorParts = Awaited<ReturnType<typeof openValidator>>

/** Opens connections and starts to follow the log. @throws {ScanError} DEPENDENCY_UNAVAILABLE. */
export async function openValidator(config: ValidatorConfig, overrides: AppOverrides = {}) {
  const app = await createAppBase('validator', config, overrides)
  const { clock, genesis, genesisHash, logger, metrics } = app
  const peerTokenByOrigin = openNodeTokens(config.nodeTokensFile, { clock, logger })
  const keyPair = await readKeyPair(config.participantKeyFile)
  const participant = participantOfKey(keyPair.publicKey)
  const verifier = createVerifier(await verifierConfig(config), {
    clock,
    fetch: createFetch(app.trust),
    onKeysUnavailable: (err) =>
      logger.warn({ err }, 'the keys for tokens cannot be fetched from QS_JWKS_URL'),
  })
  const nodeNames = memberSetOf(genesis).members.map(({ name }) => name)
  const rule = trustRuleIn(config, genesis)
  const readMetrics = createReadMetrics(metrics, clock, nodeNames)
  // A node can raise an alarm as often as it likes; an operator needs it once.
  const alarms = createRateLimitedLog({ clock, perSubjectMs: ALARM_PERIOD_MS })
  return openAll(async (resources) => {
    const store = resources.opened(
      await openValidatorStore({
        redis: await readRedisAddress(config.redis),
        genesisHash,
        onUnchecked: (sentence) => logger.warn(sentence),
      }),
    )
    measureUsers(metrics, store.users)
    const evidence = resources.opened(
      await createEvidenceStore({
        store: store.evidence,
        onFound(found) {
          const { signer } = found
          const sentence = `${signer} equivocates: it signed two conflicting statements or block votes`
          readMetrics.recordEvidence(signer)
          alarms.write(signer, (suppressed) =>
            logger.error({ evidence: found, ...suppressed }, sentence),
          )
        },
        onUnsaved: (err) =>
          logger.error(
            { err },
            'evidence could not be stored in Redis: it is lost at the next restart',
          ),
      }),
    )
    const follower = resources.opened(
      await openFollower(app, {
        config,
        peers: app.nodes,
        signers: app.nodes.filter(({ name }) => isTrusted(rule, name)),
        peerTokenByOrigin,
        allowPrivateAddresses: config.allowPrivateAddresses,
        member: null,
        participant,
        dueJobs: dueJobsOf('validator'),
        // No lookup of another process waits for it, so it takes no turn.
        async rebuild(deleteStored) {
          logger.warn('another release wrote the replica: the validator deletes and rebuilds it')
          await deleteStored()
        },
        onEvidence: evidence.note,
      }),
    )
    const { isLive, log, replica: ledger } = follower
    // With driver redis, followers find such evidence themselves.
    if (genesis.ordering.driver === 'cometbft')
      resources.opened(followEvidence({ log, genesis, note: evidence.note, clock, logger }))
    const readers = resources.opened(
      await openReads(app, {
        config,
        trustRule: rule,
        follower,
        peerTokenByOrigin,
        store,
        readMetrics,
        alarms,
      }),
    )
    const submission = resources.opened(
      await openSubmission(app, { follower, keyPair, store, alarms }),
    )
    const { submitter, ordering } = submission
    const payments = createPayments({
      store: store.payments,
      history: paymentHistory(ledger, participant),
      participant: keyPair.publicKey,
    })
    const registration = createRegistration({
      store,
      payments,
      ledger,
      submitter,
      participant: keyPair.publicKey,
      isLossAccepted: config.isLossAccepted,
      assertLive: follower.assertLive,
      // A registration needs the whole log. `isLive` only means that the newest applied entry is recent, which
      // holds for every entry of a young log.
      assertCaughtUp: follower.assertCaughtUpWithPeers,
      clock,
      logger,
    })
    const reads = resources.opened(
      createLedgerReads({ replica: ledger, users: store.users, clock, genesis }),
    )
    resources.opened(followPayments(payments, { isLive, clock, logger }))
    resources.opened(maintainRenewals({ ledger, store, isLive, clock, logger, metrics }))
    const background = resources.opened(follower.follow(ordering))
    const registering = registration.registerOperator(background.signal)
    background.run('could not register the operator; the process ends', registering)
    return {
      app,
      config,
      trustRule: rule,
      store,
      follower,
      readers,
      submission,
      payments,
      evidence,
      verifier,
      registration,
      /** Updates and streams of the ledger interface. */
      reads,
      /** `participant::1220…`: this participant on the ledger interface. */
      participantId: participantIdOf(participant),
      issuer: {
        jwksUrl: config.tokens.kind === 'jwks' ? config.tokens.url : '',
        audience: config.audience,
      },
      /** Resolves with the reason when the validator cannot continue: a bug, or a replica of another layout. */
      failed: background.failed,
      /** @throws {ScanError} If wallets, names or proofs do not work; as in `openFollower` and `createRegistration`. */
      async assertReady(): Promise<void> {
        follower.assertReady()
        await registration.assertRegistered()
      },
    }
  })
}

async function verifierConfig(config: ValidatorConfig): Promise<VerifierConfig> {
  const claims = { audience: config.audience, lifetimeSecondsMax: config.tokenLifetimeSecondsMax }
  if (config.tokens.kind === 'jwks') return { ...config.tokens, ...claims }
  const secret = await readParsed(config.tokens.secretFile, parseSharedSecret)
  return { kind: 'shared-secret', secret, ...claims }
}
