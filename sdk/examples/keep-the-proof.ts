// Store the proof of an answer, and verify it offline at any later time.
import { createScan } from '@quorumscan/sdk'
import { verifyReceipt } from '@quorumscan/sdk/receipts'

const { SEED = 'http://127.0.0.1:4611', GENESIS_HASH = '' } = process.env

const scan = createScan({ seeds: [SEED], genesis: GENESIS_HASH })
const outcome = await scan.names.lookup('alice', { threshold: 'strong', maxAgeMs: 30_000 })
await scan.close()
if (outcome.kind !== 'proven') throw new Error(`No answer to act on: ${outcome.kind}`)
console.log(`${outcome.value?.party}, signed by ${outcome.agreed.join(', ')}`)

// The genesis document may come from any source, because its hash is pinned.
const genesis = await (await fetch(`${SEED}/v0/genesis`)).json()
const kept = JSON.stringify({ receipt: outcome.receipt, genesis })

const { receipt, genesis: document } = JSON.parse(kept)
const { entry, signers, recordTime } = await verifyReceipt(receipt, {
  genesis: GENESIS_HASH, // To accept older networks as well: [GENESIS_HASH, OLDER_HASH].
  documents: [document],
  name: 'alice',
})
console.log(`${entry?.party} at ${recordTime}, signed by ${signers.join(', ')}`)
