// Send only to whom the user knows: a name that belongs to somebody else than last time is asked about first.
import { createScan } from '@quorumscan/sdk'
import { createFileStore } from '@quorumscan/sdk/node'

const { SEED = 'http://127.0.0.1:4611', GENESIS_HASH = '', STORE = 'wallet.json' } = process.env

const store = createFileStore(STORE) // Whom each name belonged to, over restarts.
const scan = createScan({ seeds: [SEED], genesis: GENESIS_HASH, store })
const party = await scan.names.resolve('alice', {
  acceptChange({ name, previousParty, party, seenAt }) {
    console.log(`${name} was ${previousParty}; at ${seenAt} it is ${party}.`)
    return false // Ask the user. `true` remembers the new party, and returns it; else NAME_CHANGED is thrown.
  },
})
console.log(`send to ${party}`)
await scan.close()
