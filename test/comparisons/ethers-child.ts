/** A client process that reads from several nodes by ethers. Two of four must agree, like f + 1 nodes. */
import { FallbackProvider, JsonRpcProvider, Network } from 'ethers'
// @boundaries-ignore The programs of tests share how they are started and measured.
import { again, childArgument } from '../support/child.ts'
// @boundaries-ignore The same.
import { measureReads, type ReadsArgument } from '../support/client-loop.ts'

const argument = childArgument<ReadsArgument>()
const network = Network.from(1)
// The cache is off, because it would answer without a read.
const options = { staticNetwork: network, cacheTimeout: -1 }
const providers = argument.urls.map((url) => new JsonRpcProvider(url, network, options))
const provider = new FallbackProvider(providers, network, { quorum: 2, cacheTimeout: -1 })
const to = `0x${'11'.repeat(20)}`
const read = async () => (await provider.call({ to, data: '0x' })).length > 2

await again({}, () => measureReads(read, argument, { countsFailures: false }))
