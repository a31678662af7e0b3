// Runs a program of the tests from its sources, without a build.
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { createViteServer } from 'vitest/node'

const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))))
const conditions = ['@quorumscan/source', 'node', 'import', 'default']

/**
 * Sets the exit status to what `main(args, env)` of a module returns.
 *
 * @param path - From the root of the repository.
 */
export async function runFromSources(path) {
  const server = await createViteServer({
    root,
    configFile: false,
    logLevel: 'error',
    // Node 20 has no `using`.
    oxc: { target: 'node20' },
    optimizeDeps: { noDiscovery: true },
    server: { middlewareMode: true, watch: null, ws: false },
    resolve: { conditions },
    ssr: { resolve: { conditions } },
  })
  try {
    const { main } = await server.ssrLoadModule(join(root, path))
    process.exitCode = await main(process.argv.slice(2), process.env)
  } finally {
    await server.close()
  }
}
