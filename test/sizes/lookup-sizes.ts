/** Sizes of the code of a first lookup of a name, with gzip: of the SDK, and of well-known clients. */
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { build, type Plugin } from 'esbuild'
import { ROOT } from '../support/root.ts'

export const README = join(ROOT, 'README.md')

const VIEM = `import { createClient, http } from 'viem'
  import { getEnsAddress } from 'viem/actions'
  import { mainnet } from 'viem/chains'
  const client = createClient({ chain: mainnet, transport: http() })`

/** A lookup, as in the documentation of each client. */
const LOOKUPS = {
  // Includes the module that the first lookup imports at run time.
  quorumscan: `import { createScan } from '@quorumscan/sdk'
    import { createScanLookups } from '../sdk/src/names/lookups.ts'
    const scan = createScan({ seeds: ['https://node.example'], genesis: '00' })
    console.log(await scan.names.resolve('alice'), createScanLookups)`,
  viem: `${VIEM}
    console.log(await getEnsAddress(client, { name: 'alice.eth' }))`,
  'viem with normalize': `import { normalize } from 'viem/ens'
    ${VIEM}
    console.log(await getEnsAddress(client, { name: normalize('alice.eth') }))`,
  ethers: `import { FallbackProvider, JsonRpcProvider } from 'ethers'
    const urls = ['https://a.example', 'https://b.example', 'https://c.example']
    const provider = new FallbackProvider(urls.map((url) => new JsonRpcProvider(url)))
    console.log(await provider.resolveName('alice.eth'))`,
} as const

export type Client = keyof typeof LOOKUPS
export const CLIENTS = Object.keys(LOOKUPS) as Client[]

/** Omits all other modules that a client imports at run time. */
const withoutLaterModules: Plugin = {
  name: 'without-later-modules',
  setup({ onResolve }) {
    onResolve({ filter: /./ }, ({ kind, path }) =>
      kind === 'dynamic-import' ? { path, external: true } : undefined,
    )
  },
}

/** @returns Kilobytes (1 000 bytes) of the minified bundle, with one decimal. */
export async function kilobytesOf(client: Client): Promise<string> {
  const { outputFiles } = await build({
    stdin: { contents: LOOKUPS[client], resolveDir: join(ROOT, 'test') },
    bundle: true,
    minify: true,
    write: false,
    format: 'esm',
    platform: 'browser',
    conditions: ['@quorumscan/source'],
    plugins: [withoutLaterModules],
  })
  const [bundle] = outputFiles
  return ((bundle === undefined ? 0 : gzipSync(bundle.contents).length) / 1_000).toFixed(1)
}

const figure = (client: Client) => new RegExp(`(<!-- size of ${client} -->)([\\d.]+)(?= kB)`)

/** The figure of a client in a document. */
export function figureIn(document: string, client: Client): number {
  return Number(figure(client).exec(document)?.[2])
}

/**
 * Replaces the figure of a client in a document.
 *
 * @throws {Error} If the document has no place for it.
 */
export function withFigure(document: string, client: Client, kilobytes: string): string {
  if (!figure(client).test(document)) throw new Error(`No place for the size of ${client}.`)
  return document.replace(figure(client), `$1${kilobytes}`)
}
