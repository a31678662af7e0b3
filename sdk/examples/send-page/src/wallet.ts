/** The clients of the page. */
import { createLocalStorageStore, createScan, createValidator } from '@quorumscan/sdk'
import { createResolver, scanNames } from '@quorumscan/sdk/naming'

/** Defined in `vite.config.ts`. */
declare const NETWORK: {
  readonly seeds: readonly string[]
  readonly genesis: string
  readonly url: string
}

const { seeds, genesis, url } = NETWORK

/** The user of this tab. `?user=bob` opens the page for another one. */
export const user = new URLSearchParams(location.search).get('user') ?? 'alice'

/** The key of everything that a write of the wallet changes. */
export const WALLET = ['wallet', user]

/** Remembers the owner of each name. Tabs share it. */
const store = createLocalStorageStore()

/** Writes, and the wallet of the user. */
export const validator = createValidator({
  url,
  genesis,
  store,
  token: async ({ signal }) => (await fetch(`/session/${user}`, { signal })).text(),
})

/** Reads directly from the nodes, with proofs. Its reads include the writes of `validator`. */
export const scan = createScan({ seeds, genesis, store, validator })

export const resolver = createResolver({
  network: 'localnet',
  resolvers: [scanNames(scan, { id: 'cns' })],
  minBasis: 'votes', // No single server can name the party that is paid.
})
