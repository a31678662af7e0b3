/**
 * What a page loads with the SDK, as Vite builds it: until it is shown, and until its first answer. The page is built, and
 * then run with the crypto of a browser and nodes that answer from memory. Each file that runs counts, as it is served:
 * by itself, with gzip.
 */
import { execFile } from 'node:child_process'
import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { gzipSync } from 'node:zlib'
import { createSystemClock } from '@quorumscan/base'
import {
  createDirectory,
  createSignedState,
  createTestNetwork,
  scansBody,
  signAddress,
  simEntry,
} from '@quorumscan/testkit'
import { canonicalJson } from '@quorumscan/verifier'
import { CERTIFIED_MEDIA_TYPE, nameQuery } from '@quorumscan/verifier/certified'
import { build } from 'vite'
import { ROOT } from '../support/root.ts'

export const SDK_README = join(ROOT, 'sdk/README.md')
const SDK = join(ROOT, 'sdk/src')
const NODE = 'https://node.example'
const VALIDATOR = 'https://validator.example/api/validator'
const NAME = 'alice.unverified.ns'

const SCAN = `import { createScan } from '${SDK}/index.ts'`
/** What each page does until its first answer. */
const PAGES = {
  'a name': `${SCAN}
    const scan = createScan({ seeds, genesis })
    run(() => scan.names.resolve('alice'))`,
  'a name and a balance': `${SCAN}
    import { createValidator } from '${SDK}/index.ts'
    const validator = createValidator({ url, genesis, token: 'token' })
    const scan = createScan({ seeds, genesis, validator })
    run(() => Promise.all([scan.names.resolve('alice'), validator.wallet.balance()]))`,
  'a typed recipient': `${SCAN}
    import { createResolver, scanNames } from '${SDK}/naming/index.ts'
    const scan = createScan({ seeds, genesis })
    const resolver = createResolver({ network: 'localnet', resolvers: [scanNames(scan, { id: 'cns' })] })
    run(async () => {
      const { party, error } = await resolver.resolve('alice')
      if (party === null) throw error
    })`,
} as const

export type Page = keyof typeof PAGES
export const PAGE_NAMES = Object.keys(PAGES) as Page[]

export type PageFile = {
  readonly name: string
  readonly bytes: number
  /** Whether the page loads it before anything is called. */
  readonly isFirst: boolean
  /** The sources in it, and how many bytes of each, before compression. */
  readonly sources: Readonly<Record<string, number>>
}

/** Bytes with gzip. */
export type PageLoad = {
  readonly first: number
  readonly untilAnswer: number
  /** In the order in which they run. */
  readonly files: readonly PageFile[]
}

const figures = (page: Page) =>
  new RegExp(`(<!-- page: ${page} -->)([\\d.]+) kB \\| ([\\d.]+)(?= kB)`)

/** The kilobytes of a page in a document. */
export function pageIn(document: string, page: Page) {
  const [, , first, untilAnswer] = figures(page).exec(document) ?? []
  return { first: Number(first), untilAnswer: Number(untilAnswer) }
}

/**
 * Replaces the figures of a page in a document.
 *
 * @throws {Error} If the document has no place for them.
 */
export function withPage(document: string, page: Page, load: PageLoad): string {
  if (!figures(page).test(document)) throw new Error(`No place for the page with ${page}.`)
  const shown = [load.first, load.untilAnswer].map((bytes) => (bytes / 1_000).toFixed(1))
  return document.replace(figures(page), `$1${shown[0]} kB | ${shown[1]}`)
}

/** Builds and runs a page. @throws {Error} If it gets no answer. */
export async function loadOf(page: Page): Promise<PageLoad> {
  using temporary = createDirectory('page')
  const { path: directory } = temporary
  const { answers, options } = nodesAnswers()
  const source = `${Object.entries(options)
    .map(([name, value]) => `const ${name} = ${JSON.stringify(value)}`)
    .join('\n')}
    const run = (ask) => { globalThis.ask = ask }
    ${PAGES[page]}`
  const sources = await bundle(source, directory)
  const sizes = new Map<string, number>()
  for (const name of await readdir(directory)) {
    const code = await readFile(join(directory, name))
    sizes.set(name, gzipSync(code).length)
    // Imports run before what is around them.
    await writeFile(join(directory, name), `${code}\nglobalThis.ran.push('${name}')`)
  }
  const { first, all } = await runPage(directory, answers)
  const files = all.map((name) => ({
    name,
    bytes: sizes.get(name) ?? 0,
    isFirst: first.includes(name),
    sources: sources.get(name) ?? {},
  }))
  const sum = (some: readonly PageFile[]) => some.reduce((total, { bytes }) => total + bytes, 0)
  return { first: sum(files.filter(({ isFirst }) => isFirst)), untilAnswer: sum(files), files }
}

/** Writes `page.js` and its parts. @returns The sources in each file. */
async function bundle(source: string, outDir: string) {
  const entry = 'virtual:page.js'
  const built = await build({
    root: ROOT,
    configFile: false,
    logLevel: 'silent',
    plugins: [
      {
        name: 'page',
        resolveId: (id) => (id === entry ? entry : null),
        load: (id) => (id === entry ? source : null),
      },
    ],
    build: {
      outDir,
      emptyOutDir: false,
      copyPublicDir: false,
      rollupOptions: {
        input: entry,
        output: { entryFileNames: 'page.js', chunkFileNames: '[name]-[hash].js' },
      },
    },
  })
  const sources = new Map<string, Readonly<Record<string, number>>>()
  for (const one of [built].flat())
    for (const file of 'output' in one ? one.output : [])
      if (file.type === 'chunk')
        sources.set(
          file.fileName,
          Object.fromEntries(
            Object.entries(file.modules)
              .filter(([, { renderedLength }]) => renderedLength > 0)
              .map(([id, { renderedLength }]) => [id.replace(ROOT, ''), renderedLength]),
          ),
        )
  return sources
}

type Answer = { readonly type: string; readonly text: string }

/** What the node and the validator answer, by the path, and what a page is told of them. */
function nodesAnswers() {
  const network = createTestNetwork({ nodeCount: 4 })
  const { genesis, genesisHash, scans } = network
  const state = createSignedState(network, {
    offset: 7,
    recordTime: createSystemClock().nowMicros(),
    entries: [simEntry(NAME, { contractId: `00${'a'.repeat(64)}`, expiresAt: 4e15 })],
  })
  const record = signAddress(scans[0] as never, {
    genesisHash,
    name: 'sv-1',
    url: NODE,
    sequence: 1,
  })
  const json = 'application/json'
  const coin = '1.0000000000'
  const answers: Record<string, Answer> = {
    '/v0/genesis': { type: json, text: canonicalJson(genesis) },
    '/v0/scans': { type: json, text: scansBody([record]) },
    '/v0/certificate': {
      type: CERTIFIED_MEDIA_TYPE,
      text: `{"certificate":${state.certificate()}}`,
    },
    [`/v0/ans-entries/by-name/${NAME}`]: {
      type: CERTIFIED_MEDIA_TYPE,
      text: state.document(nameQuery(NAME)),
    },
    '/api/validator/v0/wallet/balance': {
      type: json,
      text: JSON.stringify({
        round: 1,
        effective_unlocked_qty: coin,
        effective_locked_qty: coin,
        total_holding_fees: coin,
      }),
    },
  }
  return { answers, options: { seeds: [NODE], genesis: genesisHash, url: VALIDATOR } }
}

/** Runs the built page in a process of its own, with what a browser has. */
async function runPage(directory: string, answers: Readonly<Record<string, Answer>>) {
  const program = `
    const answers = ${JSON.stringify(answers)}
    process.getBuiltinModule = undefined
    globalThis.ran = []
    // Of the fetch of Node, whose answers are bounded by code that no browser loads.
    void Response
    globalThis[Symbol.for('undici.globalDispatcher.1')] = undefined
    const link = { relList: { supports: () => true } }
    globalThis.document = {
      visibilityState: 'visible',
      addEventListener() {},
      getElementsByTagName: () => [],
      querySelector: () => null,
      createElement: () => link,
      head: { appendChild() {} },
    }
    globalThis.fetch = async (url) => {
      const answer = answers[new URL(url).pathname]
      if (answer === undefined) return new Response('{}', { status: 404 })
      return new Response(answer.text, { headers: { 'content-type': answer.type } })
    }
    await import(${JSON.stringify(pathToFileURL(join(directory, 'page.js')).href)})
    const first = [...ran]
    await ask()
    process.stdout.write(JSON.stringify({ first, all: ran }), () => process.exit(0))`
  const flags = ['--input-type=module', '--eval', program]
  const { stdout } = await promisify(execFile)(process.execPath, flags)
  return JSON.parse(stdout) as { first: readonly string[]; all: readonly string[] }
}
