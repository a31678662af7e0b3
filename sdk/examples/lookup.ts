// Look a name up with everything that is known about the answer, and keep the receipt.
import { createScan } from '@quorumscan/sdk'
import { verifyReceipt } from '@quorumscan/sdk/receipts'

const { SEED = 'http://127.0.0.1:4601', GENESIS_HASH = '' } = process.env
const name = 'alice.unverified.ns'

await using scan = createScan({ seeds: [SEED], genesis: GENESIS_HASH })
const outcome = await scan.names.lookup(name, { threshold: 'strong', maxAgeMs: 30_000 })
switch (outcome.kind) {
  case 'verified':
    console.log(`${outcome.entry.party}, say ${outcome.agreed.join(', ')}`)
    if (outcome.changed !== null) console.log(`It was ${outcome.changed.previousParty}: ask first!`)
    break
  case 'verified-absent':
    console.log('Enough nodes say that nobody has it.')
    break
  default:
    throw new Error(`No answer to act on: ${outcome.kind}`)
}

// Years later, offline: the receipt proves it to whoever has the genesis document, and knows its hash.
const document: unknown = await (await fetch(`${SEED}/v0/genesis`)).json()
const proof = await verifyReceipt(outcome.receipt, {
  genesis: GENESIS_HASH,
  documents: [document],
  name,
})
console.log(`Signed by ${proof.signers.join(', ')} at offset ${proof.offset}.`)
