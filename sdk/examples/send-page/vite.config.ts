/** Serves the page for a cluster: the one that these variables name, or the one that runs on this machine. */
import { execFileSync } from 'node:child_process'
import react from '@vitejs/plugin-react'
import { defineConfig, type Plugin } from 'vite'

const { SEED, GENESIS_HASH, VALIDATOR, TOKEN } = process.env

function quorumscan(...args: string[]): string {
  try {
    return execFileSync('quorumscan', args, { encoding: 'utf8' })
  } catch (cause) {
    const message =
      'No cluster is found. Set SEED, GENESIS_HASH, VALIDATOR, TOKEN and PATH as in the README of the SDK.'
    throw new Error(message, { cause })
  }
}

/** Compiled into the page: a genesis hash that is downloaded at run time proves nothing. */
function findNetwork() {
  if (SEED && GENESIS_HASH) return { seeds: SEED.split(','), genesis: GENESIS_HASH, url: VALIDATOR }
  const { cluster, nodes, validator } = JSON.parse(quorumscan('status', '--json'))
  const seeds = nodes.map((node: { url: string }) => node.url)
  return { seeds, genesis: cluster.genesisHash, url: validator.url }
}

/** Stands in for the provider that logs a user in. It gives every caller a token: use it for development only. */
const session: Plugin = {
  name: 'session',
  configureServer({ middlewares }) {
    middlewares.use('/session', (request, response) => {
      const user = /^\/([a-z]{1,20})$/.exec(request.url ?? '')?.[1]
      if (user === undefined) response.writeHead(400).end()
      else response.end(TOKEN ?? quorumscan('token', user))
    })
  },
}

/** The network of `src/wallet.ts`. */
const network: Plugin = {
  name: 'network',
  config: () => ({ define: { NETWORK: JSON.stringify(findNetwork()) } }),
}

export default defineConfig({ plugins: [react(), session, network] })
