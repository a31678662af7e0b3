// Find the API of a token registry in the name entry of its admin party. A scan that lies cannot name another server.
import { createScan } from '@quorumscan/sdk'

const { SEED = 'http://127.0.0.1:4611', GENESIS_HASH = '', ADMIN = '' } = process.env

const scan = createScan({ seeds: [SEED], genesis: GENESIS_HASH })
const [url] = await scan.names.registryUrls(ADMIN) // The https URLs that the party has published, in its order.
console.log(url === undefined ? 'The party names no registry.' : `Registry: ${url}`)
await scan.close()
