// Resolve a name: straight from the scan nodes, believing only what enough of them signed.
import { createScan } from '@quorumscan/sdk'

const { SEED = 'http://127.0.0.1:4611', GENESIS_HASH = '' } = process.env

const scan = createScan({ seeds: [SEED], genesis: GENESIS_HASH })
console.log(await scan.names.resolve('alice')) // 'alice::1220…', or null: nobody has it
await scan.close()
