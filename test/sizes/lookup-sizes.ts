/** Sizes of the code of a first lookup of a name, with gzip: of the SDK, and of well-known clients. */
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { type Plugin, rolldown } from 'rolldown'
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
    import { createScanLookups } from '../../sdk/src/names/lookups.ts'
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

/** Where the packages of all clients are found. */
const ENTRY = join(ROOT, 'test/comparisons/lookup.ts')

/** Bundles this code, without the modules that a client imports at run time. */
const withoutLaterModules = (code: string): Plugin => ({
  name: 'without-later-modules',
  resolveId(id, _importer, { kind }) {
    if (id === ENTRY) return id
    return kind === 'dynamic-import' ? { id, external: true } : null
  },
  load: (id) => (id === ENTRY ? code : null),
})

/** @returns Kilobytes (1 000 bytes) of the minified bundle, with one decimal. */
export async function kilobytesOf(client: Client): Promise<string> {
  const build = await rolldown({
    input: ENTRY,
    platform: 'browser',
    logLevel: 'silent',
    resolve: { conditionNames: ['@quorumscan/source'] },
    plugins: [withoutLaterModules(LOOKUPS[client])],
  })
  const { output } = await build.generate({ format: 'esm', minify: true, comments: false })
  await build.close()
  return (gzipSync(output[0].code).length / 1_000).toFixed(1)
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
