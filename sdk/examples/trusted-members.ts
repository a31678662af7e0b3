// Trust three operators that you know: two of them must have signed, and no other node is asked for names.
import { createScan } from '@quorumscan/sdk'

const { SEED = 'http://127.0.0.1:4611', GENESIS_HASH = '' } = process.env

const trust = { members: ['sv-1', 'sv-2', 'sv-3'], threshold: 2 }
const scan = createScan({ seeds: [SEED], genesis: GENESIS_HASH, trust })
const outcome = await scan.names.lookup('alice')
if (outcome.kind !== 'proven') throw new Error(`No answer to act on: ${outcome.kind}`)
console.log(`${outcome.value?.party}, signed by ${outcome.agreed.join(', ')}`)
await scan.close()
