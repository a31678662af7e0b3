// Ask the user before sending to a name whose owner has changed.
import { createScan } from '@quorumscan/sdk'
import { createFileStore } from '@quorumscan/sdk/node'

const { SEED = 'http://127.0.0.1:4611', GENESIS_HASH = '', STORE = 'wallet.json' } = process.env

const store = createFileStore(STORE) // Remembers the owner of each name across restarts.
const scan = createScan({ seeds: [SEED], genesis: GENESIS_HASH, store })
const party = await scan.names.resolve('alice', {
  acceptChange({ name, previousParty, party, seenAt }) {
    console.log(`${name} was ${previousParty}; at ${seenAt} it is ${party}.`)
    return false // Ask the user. `true` accepts and returns the new party; otherwise NAME_CHANGED is thrown.
  },
})
console.log(`send to ${party}`)
await scan.close()
