// `npm run sim`: runs the simulation from its sources, without a build.
//
//   npm run sim                         ten thousand reads, from a random seed
//   npm run sim -- --reads 1000000      another number of reads
//   SEED=7 npm run sim                  repeats this seed in all modes (--mode for one)
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { createViteServer } from 'vitest/node'

const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))))
const conditions = ['@quorumscan/source', 'node', 'import', 'default']
const server = await createViteServer({
  root,
  configFile: false,
  logLevel: 'error',
  optimizeDeps: { noDiscovery: true },
  server: { middlewareMode: true, watch: null, ws: false },
  resolve: { conditions },
  ssr: { resolve: { conditions } },
})
try {
  const { main } = await server.ssrLoadModule(join(root, 'test/sim/main.ts'))
  process.exitCode = await main(process.argv.slice(2), process.env)
} finally {
  await server.close()
}
