// Resolve a name directly from the scan nodes. The answer needs the signatures of enough nodes.
import { createScan } from '@quorumscan/sdk'

const { SEED = 'http://127.0.0.1:4611', GENESIS_HASH = '' } = process.env

const scan = createScan({ seeds: [SEED], genesis: GENESIS_HASH })
console.log(await scan.names.resolve('alice')) // 'alice::1220…', or null if it is proven that the name is free
await scan.close()
