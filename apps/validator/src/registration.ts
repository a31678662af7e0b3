/** Who is registered: users and their parties, the operator first; and whether the store that holds them is whole. */
import { FIRST_ADMIN_USER } from '@quorumscan/auth'
import type { ValidatorConfig } from '@quorumscan/config'
import { ScanError } from '@quorumscan/errors'
import type { Background, Follower } from '@quorumscan/follower'
import type { App } from '@quorumscan/server'
import type { Commander } from '@quorumscan/submit'
import type { ValidatorStore } from '@quorumscan/users'
import { createKeptUsers, hasOperatorParty, registerOperator } from '@quorumscan/wallet'

export function createRegistration(
  app: App,
  parts: {
    readonly config: Pick<ValidatorConfig, 'isLossAccepted' | 'nodes'>
    readonly follower: Pick<Follower, 'assertLive' | 'clocks' | 'needed' | 'replica'>
    readonly store: Pick<ValidatorStore, 'identity' | 'parties' | 'users'>
    readonly commander: Commander
    /** Public key, hex. */
    readonly participant: string
  },
) {
  const { config, follower, store, commander, participant } = parts
  const { assertLive, replica: ledger } = follower
  const { identity, parties, users } = store
  const kept = createKeptUsers({
    identity,
    participant,
    hasUsers: async () => (await users.get(FIRST_ADMIN_USER)) !== null,
    wasHereBefore: async () => {
      if (config.nodes.length > 0) assertAsFarAsNodes(follower)
      return await hasOperatorParty({ ledger, participant })
    },
    isLossAccepted: config.isLossAccepted,
  })
  const registration = {
    kept,
    users,
    parties,
    ledger,
    commander,
    participant,
    onFoundAgain: (user: string, party: string) =>
      app.logger.warn(
        { user, party },
        'a user got a party that the ledger knew and the store of users did not',
      ),
  }
  let isOperatorRegistered = false
  return {
    registration,
    /** Registers the operator in the background. */
    begin(background: Background): void {
      const { signal } = background
      const register = async (): Promise<void> => {
        const options = { ...app, begin: kept.begin, assertLive, signal }
        isOperatorRegistered = await registerOperator(registration, options)
      }
      background.run('the registration of the operator ended', register())
    },
    /** @throws {ScanError} USERS_LOST; NOT_READY until the operator has its party. */
    async assertRegistered(): Promise<void> {
      await kept.assertThere()
      if (!isOperatorRegistered) throw starting("The operator's party is not allocated yet.")
    },
  }
}

/**
 * Live is not enough where something must not be in the log: a young log is recent from its start on.
 *
 * @throws {ScanError} NOT_READY before everything is applied that `needed` nodes have applied.
 */
function assertAsFarAsNodes({
  clocks,
  needed,
  replica,
}: Pick<Follower, 'clocks' | 'needed' | 'replica'>): void {
  const heads = clocks.readings().flatMap(({ head }) => head ?? [])
  const head = heads.sort((a, b) => b - a)[needed - 1]
  if (head !== undefined && replica.head().offset >= head) return
  throw starting('The validator waits to be as far in the log as the nodes.')
}

function starting(sentence: string): ScanError {
  const details = { state: 'starting' }
  return new ScanError('NOT_READY', sentence, { details, retryAfterSeconds: 1 })
}
