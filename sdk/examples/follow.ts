// Follow the ledger: every update that a party may see, once, continued where the last run stopped.
import { createValidator } from '@quorumscan/sdk'
import { createFileStore } from '@quorumscan/sdk/node'

const { VALIDATOR = 'http://127.0.0.1:4601', TOKEN = '', STORE = 'wallet.json' } = process.env

const validator = createValidator({ url: VALIDATOR, token: TOKEN })
const { partyId } = await validator.wallet.status()
const checkpoint = { store: createFileStore(STORE), key: 'updates' }
// Without `follow: false` it waits for more updates, also across restarts of the validator.
for await (const update of validator.updates({ parties: [partyId], checkpoint, follow: false }))
  console.log(update.offset, update.kind)
