// Resolve what a user types: a name, a qualified name such as localnet:cns:alice.unverified.ns, or a party.
import { createScan } from '@quorumscan/sdk'
import { createResolver, displayParty, scanNames } from '@quorumscan/sdk/naming'

const { SEED = 'http://127.0.0.1:4611', GENESIS_HASH = '', TYPED = 'alice' } = process.env

const scan = createScan({ seeds: [SEED], genesis: GENESIS_HASH })
const resolver = createResolver({
  network: 'localnet', // Names of other networks are invalid.
  resolvers: [scanNames(scan, { id: 'cns' })], // In order of priority; `httpResolver` adds other naming systems.
  minBasis: 'votes', // The party of an answer that is only claimed is never returned.
})
const result = await resolver.resolve(TYPED)
if (result.party === null) throw new Error(`No party to send to: ${result.kind}`)
console.log(`${result.party}, by ${result.basis}, from ${result.value.fqpn}`)

const names = await resolver.reverse(result.party)
console.log(displayParty(names, result.party).text) // A name, else the hint, else the shortened party.
await scan.close()
