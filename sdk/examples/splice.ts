// Resolve a name on a Splice network, whose scans sign nothing. Enough super-validators must give equal answers.
import { createSpliceScan } from '@quorumscan/sdk/splice'

const { SEED = 'http://127.0.0.1:4611' } = process.env
const name = 'alice.unverified.ns'
const nodes = { seeds: [SEED] }

const scan = createSpliceScan(nodes)
console.log(await scan.names.resolve(name)) // a party, or null if enough scans answer that the name is free

const outcome = await scan.names.lookup(name, { threshold: '2f+1' })
if (outcome.kind === 'failed') throw outcome.error
console.log(`${outcome.value?.party}, agreed by ${outcome.agreed.join(', ')}`)
await scan.close()
