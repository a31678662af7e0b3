// Replays a log in a process of its own, whose environment decides the locale. Prints the digest.
import process from 'node:process'
import { createViteServer } from 'vitest/node'

const conditions = ['@quorumscan/source', 'node', 'import', 'default']
const server = await createViteServer({
  configFile: false,
  logLevel: 'error',
  oxc: { target: 'node20' },
  root: new URL('../..', import.meta.url).pathname,
  resolve: { conditions },
  ssr: { resolve: { conditions } },
  server: { middlewareMode: true, hmr: false, ws: false, watch: null },
  optimizeDeps: { noDiscovery: true },
})
try {
  const { replayDigest } = await server.ssrLoadModule('/src/testing/replay.ts')
  process.stdout.write(await replayDigest(JSON.parse(process.argv[2])))
} finally {
  await server.close()
}
