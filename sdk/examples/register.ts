// Register a name: request it, pay for it, and wait until the super-validators have confirmed.
import { createValidator, isQuorumscanError } from '@quorumscan/sdk'

const { VALIDATOR = 'http://127.0.0.1:4601', TOKEN = '', REGISTER = 'erin' } = process.env

const validator = createValidator({ url: VALIDATOR, token: TOKEN })
await validator.wallet.party() // Gives the user a party. Registrations and payments do it as well.
await validator.wallet.tap({ usd: '10.0' }) // A development network creates coin on request.
try {
  const { party, entry } = await validator.names.register(
    { name: REGISTER, url: 'https://example.org', autoRenew: true },
    { onProgress: (event) => console.log(event.step) }, // requested, paid, active
  )
  console.log(`${entry.name} belongs to ${party} until ${entry.expiresAt}`)
} catch (error) {
  if (!isQuorumscanError(error)) throw error
  // 'not-paid', 'unknown', 'locked', 'refunded' or 'paid'. Another call never pays twice for one request.
  console.error(`${error.message} (${error.code}; the coin: ${error.payment})`)
  throw error
}
