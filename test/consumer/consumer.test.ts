/**
 * The SDK as published: packed, installed into a project outside of the workspace, compiled (in long runs by old
 * compilers, too), run as ES module and with `require`, and checked by tools for packages.
 */
import { execFile } from 'node:child_process'
import { copyFile, cp, mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { gzipSync } from 'node:zlib'
import { isLong } from '@quorumscan/testkit'
import { directoryOfFile } from '@quorumscan/testkit/fixtures'
import { beforeAll, describe, expect, it } from 'vitest'

const root = join(import.meta.dirname, '../..')
const bin = (name: string) => join(root, 'node_modules/.bin', name)
const types = join(import.meta.dirname, '../types')
/** The examples of the README. */
const examples = join(root, 'sdk/examples')

type Exit = { readonly code: number; readonly text: string }

async function run(
  program: string,
  args: readonly string[],
  options: { readonly cwd?: string; readonly env?: NodeJS.ProcessEnv } = {},
): Promise<Exit> {
  try {
    const { stdout, stderr } = await promisify(execFile)(program, args, {
      maxBuffer: 16 * 1024 * 1024,
      ...options,
    })
    return { code: 0, text: stdout + stderr }
  } catch (error) {
    const { code, stdout, stderr } = error as { code: number; stdout: string; stderr: string }
    return { code, text: stdout + stderr }
  }
}

const passed = (exit: Exit) => expect(exit, exit.text).toMatchObject({ code: 0 })

const project = directoryOfFile()
let sdkTarball: string
type Settings = readonly [compiler: string, module: string, moduleResolution: string]
const SETTINGS: readonly Settings[] = [
  ['typescript', 'nodenext', 'nodenext'],
  ['typescript', 'esnext', 'bundler'],
]
/** Compilers written in JavaScript are slow. */
const LONG_SETTINGS: readonly Settings[] = [
  ['typescript-5.4', 'nodenext', 'nodenext'],
  ['typescript-5.4', 'esnext', 'bundler'],
  ['typescript-5.9', 'nodenext', 'nodenext'],
  ['typescript-5.9', 'esnext', 'bundler'],
]

/** Installs the SDK by the README with the newest supported compiler, and in long runs with the oldest. */
beforeAll(async () => {
  const readme = await readFile(join(root, 'sdk/README.md'), 'utf8')
  const runCommand = async (start: string, more: string, cwd: string) => {
    const [line = 'false'] = new RegExp(`^${start}.*`, 'm').exec(readme) ?? []
    passed(await run('bash', ['-ec', `${line.replace('/tmp', project)} ${more}`], { cwd }))
  }
  await runCommand('npm pack', '', root)
  const tarball = (await readdir(project)).find((file) => file.endsWith('.tgz')) ?? 'none'
  sdkTarball = join(project, tarball)
  // The example page names all packages that users of the SDK need.
  const page = JSON.parse(await readFile(join(examples, 'send-page/package.json'), 'utf8'))
  const { '@quorumscan/sdk': _, ...dependencies } = {
    ...page.dependencies,
    ...page.devDependencies,
  }
  const compilers = {
    'typescript-5.4': 'npm:typescript@5.4.5',
    'typescript-5.9': 'npm:typescript@5.9.3',
  }
  await writeFile(
    join(project, 'package.json'),
    JSON.stringify({
      private: true,
      type: 'module',
      dependencies: { ...dependencies, ...(isLong ? compilers : {}) },
    }),
  )
  // The SDK is the only package of this repository, because no other one is published.
  const quiet = '--no-audit --no-fund --prefer-offline --ignore-scripts'
  await runCommand('npm install', quiet, project)
  for (const file of await readdir(types)) await copyFile(join(types, file), join(project, file))
  await mkdir(join(project, 'examples'))
  for (const file of await readdir(examples))
    if (file.endsWith('.ts')) await copyFile(join(examples, file), join(project, 'examples', file))
})

async function expectCompiled([compiler, module, moduleResolution]: Settings): Promise<void> {
  const config = join(project, `tsconfig-${compiler}-${moduleResolution}.json`)
  const compilerOptions = {
    module,
    moduleResolution,
    target: 'es2022',
    // Without `esnext.disposable`, like a project that does not use `await using`.
    lib: ['es2022', 'dom', 'dom.iterable'],
    types: [],
    strict: true,
    exactOptionalPropertyTypes: true,
    noEmit: true,
    // Checks the declarations of the SDK and its imports, but not those of the compiler.
    skipDefaultLibCheck: true,
  }
  await writeFile(config, JSON.stringify({ compilerOptions, include: ['*.ts'] }))
  const tsc = join(project, 'node_modules', compiler, 'bin/tsc')
  passed(await run(process.execPath, [tsc, '-p', config]))
}

it.for(SETTINGS)('%s compiles code of users: module %s, resolution %s', expectCompiled)

it.for(LONG_SETTINGS)(
  '%s compiles code of users: module %s, resolution %s',
  { tags: ['long', 'compilers'] },
  expectCompiled,
)

it('the examples of the README compile in a project', async () => {
  const compilerOptions = {
    module: 'nodenext',
    moduleResolution: 'nodenext',
    target: 'es2022',
    strict: true,
    lib: ['es2022', 'dom', 'dom.iterable'],
    types: ['node'],
    noEmit: true,
  }
  const config = join(project, 'tsconfig-readme.json')
  await writeFile(config, JSON.stringify({ compilerOptions, include: ['examples/*.ts'] }))
  const tsc = join(project, 'node_modules/typescript/bin/tsc')
  passed(await run(process.execPath, [tsc, '-p', config]))
})

it('the example page compiles, and Vite builds it, where it is copied', {
  tags: ['rest'],
}, async () => {
  const page = join(project, 'send-page')
  const isSource = (file: string) => !/send-page\/(node_modules|dist)/.test(file)
  await cp(join(examples, 'send-page'), page, { recursive: true, filter: isSource })
  const network = {
    SEED: 'https://sv-1.example.com',
    GENESIS_HASH: 'ab'.repeat(32),
    VALIDATOR: 'https://validator.example.com',
  }
  passed(await run('npm', ['run', 'build'], { cwd: page, env: { ...process.env, ...network } }))
  expect(await readdir(join(page, 'dist/assets'))).toContainEqual(expect.stringMatching(/\.css$/))
})

it('a page that Vite builds loads at most 6.7 kB with both clients, before it uses them', {
  tags: ['rest'],
}, async () => {
  const page = join(project, 'both-clients')
  await mkdir(page)
  const script = `
    import { createScan, createValidator } from '@quorumscan/sdk'
    Object.assign(globalThis, { createScan, createValidator })
  `
  await writeFile(
    join(page, 'index.html'),
    `<!doctype html><title>page</title><script type="module">${script}</script>`,
  )
  const vite = join(project, 'node_modules/vite/bin/vite.js')
  passed(await run(process.execPath, [vite, 'build'], { cwd: page }))
  const html = await readFile(join(page, 'dist/index.html'), 'utf8')
  const files = [...html.matchAll(/(?:src|href)="\/(assets\/[^"]+\.js)"/g)]
  const sizes = await Promise.all(
    files.map(async ([, file = '']) => gzipSync(await readFile(join(page, 'dist', file))).length),
  )
  const bytes = sizes.reduce((sum, size) => sum + size, 0)
  expect(bytes).toBeGreaterThan(1_000)
  expect(bytes).toBeLessThanOrEqual(6_700)
})

const NEXT_PAGES = {
  'layout.js': `export default ({ children }) => <html lang="en"><body>{children}</body></html>`,
  'names.js': `
    import { createResolver, scanNames } from '@quorumscan/sdk/naming'
    import { fakeNames } from '@quorumscan/sdk/testing/fakes'
    const names = fakeNames({ alice: 'alice::1220${'a'.repeat(64)}' })
    const resolvers = [scanNames({ names }, { id: 'cns' })]
    export const resolver = createResolver({ network: 'localnet', resolvers })
  `,
  'page.js': `
    import { createScan } from '@quorumscan/sdk'
    import { resolver } from './names.js'
    import { Recipient } from './recipient.js'
    export default async function Page() {
      createScan({ seeds: ['https://sv-1.example.com'], genesis: '${'ab'.repeat(32)}' })
      const { party } = await resolver.resolve('localnet:cns:alice.unverified.ns')
      return <main><p>{'On the server: ' + party}</p><Recipient /></main>
    }
  `,
  'recipient.js': `
    'use client'
    import { useParty } from '@quorumscan/sdk/react'
    import { QueryClient, QueryClientProvider } from '@tanstack/react-query'
    import { resolver } from './names.js'
    const client = new QueryClient()
    const Field = () => <p>{'In the field: ' + useParty('', { resolver }).shown.kind}</p>
    export const Recipient = () =>
      <QueryClientProvider client={client}><Field /></QueryClientProvider>
  `,
}

it('Next.js builds a page that resolves on the server, with a field for the browser', {
  tags: ['long', 'compilers'],
}, async () => {
  const page = join(project, 'next-page')
  await mkdir(join(page, 'app'), { recursive: true })
  for (const [file, text] of Object.entries(NEXT_PAGES))
    await writeFile(join(page, 'app', file), text)
  const { dependencies } = JSON.parse(await readFile(join(project, 'package.json'), 'utf8'))
  const { react, 'react-dom': dom, '@tanstack/react-query': query } = dependencies
  const installed = { next: '16.4.6', react, 'react-dom': dom, '@tanstack/react-query': query }
  await writeFile(
    join(page, 'package.json'),
    JSON.stringify({
      private: true,
      dependencies: { ...installed, '@quorumscan/sdk': `file:${sdkTarball}` },
    }),
  )
  const quiet = ['--no-audit', '--no-fund', '--prefer-offline', '--ignore-scripts']
  passed(await run('npm', ['install', ...quiet], { cwd: page }))
  const env = { ...process.env, NEXT_TELEMETRY_DISABLED: '1', NODE_ENV: 'production' as const }
  passed(await run('npx', ['--no', 'next', 'build'], { cwd: page, env }))
  const html = await readFile(join(page, '.next/server/app/index.html'), 'utf8')
  expect(html).toContain('On the server: alice::1220aaaa')
  expect(html).toContain('In the field: pending')
})

describe('at run time', () => {
  const program = `
    const scan = createScan({ seeds: ['https://sv-1.example.com'], genesis: 'ab'.repeat(32) })
    if (typeof scan.names.resolve !== 'function' || typeof verifyReceipt !== 'function') throw 0
    if (typeof createFileStore('x').get !== 'function' || typeof startCluster !== 'function') throw 0
    if (typeof createScanClient({ baseUrl: 'http://h' }).GET !== 'function') throw 0
    createSpliceScan({ seeds: ['https://scan.example.com'] })
    createResolver({ network: 'mainnet', resolvers: [] })
    fakeNames({ alice: 'alice::1220' + 'a'.repeat(64) })
  `
  const hooks = "if (typeof useName !== 'function') throw 0"
  const imports = [
    ['createScan', ''],
    ['verifyReceipt', '/receipts'],
    ['createFileStore', '/node'],
    ['startCluster', '/testing'],
    ['createScanClient', '/raw'],
    ['useName', '/react'],
    ['createSpliceScan', '/splice'],
    ['createResolver', '/naming'],
    ['fakeNames', '/testing/fakes'],
  ] as const
  const importLines = (some: readonly (typeof imports)[number][]) =>
    some.map(([name, path]) => `import { ${name} } from '@quorumscan/sdk${path}'`)

  it('an ES module imports every entry point, and the process exits', async () => {
    await writeFile(join(project, 'main.mjs'), [...importLines(imports), program, hooks].join('\n'))
    passed(await run(process.execPath, [join(project, 'main.mjs')]))
  })

  it('CommonJS requires every entry point', async () => {
    const lines = imports.map(
      ([name, path]) => `const { ${name} } = require('@quorumscan/sdk${path}')`,
    )
    await writeFile(join(project, 'main.cjs'), [...lines, program, hooks].join('\n'))
    passed(await run(process.execPath, [join(project, 'main.cjs')]))
  })

  it.each(['node16', 'nodenext'])(
    'TypeScript compiles CommonJS, with module %s',
    async (module) => {
      const folder = join(project, `commonjs-${module}`)
      await mkdir(folder)
      await writeFile(join(folder, 'package.json'), '{ "type": "commonjs" }')
      // Without the types that it has, each import would be `any`.
      const wrong = '// @ts-expect-error\nconst wrong: number = createScan'
      const lines = [...importLines(imports), program, hooks, wrong]
      await writeFile(join(folder, 'main.ts'), lines.join('\n'))
      const lib = 'es2022,dom,dom.iterable'
      const options = ['--module', module, '--target', 'es2022', '--lib', lib, '--strict']
      const tsc = join(project, 'node_modules/typescript/bin/tsc')
      passed(
        await run(process.execPath, [tsc, ...options, '--skipDefaultLibCheck', 'main.ts'], {
          cwd: folder,
        }),
      )
      passed(await run(process.execPath, [join(folder, 'main.js')]))
    },
  )

  it('the tarball has the license, and the examples of the README', async () => {
    const installed = join(project, 'node_modules/@quorumscan/sdk')
    const license = await readFile(join(installed, 'LICENSE'), 'utf8')
    expect(license).toBe(await readFile(join(root, 'LICENSE'), 'utf8'))
    expect(await readdir(join(installed, 'examples'))).toContain('resolve.ts')
  })

  describe('where code generation from strings is forbidden', () => {
    const runForbidden = async (name: string, lines: readonly string[]) => {
      const file = join(project, name)
      await writeFile(file, lines.join('\n'))
      return run(process.execPath, ['--disallow-code-generation-from-strings', file])
    }

    it('runs', async () => {
      const others = imports.filter(([, path]) => path !== '/react')
      passed(await runForbidden('forbidden.mjs', [...importLines(others), program]))
    })

    it('runs React', async ({ skip }) => {
      const react = await runForbidden('react.mjs', ["import { jsx } from 'react/jsx-runtime'"])
      skip(react.code !== 0, 'this Node cannot import React there')
      passed(await runForbidden('hooks.mjs', [...importLines(imports), program, hooks]))
    })
  })
})

it('publint reports no problem', { tags: ['rest'] }, async () => {
  passed(await run(bin('publint'), ['--strict', sdkTarball]))
})

it('attw reports no problem of the types', { tags: ['rest'] }, async () => {
  passed(await run(bin('attw'), [sdkTarball, '--profile', 'node16', '--no-emoji']))
})

it('entry points are within their size limits', async () => {
  passed(await run(bin('size-limit'), [], { cwd: join(root, 'sdk') }))
})

it('typedoc writes the reference without a missing description or dead link', {
  tags: ['long', 'compilers'],
}, async () => {
  const docs = join(project, 'docs')
  passed(
    await run(join(root, 'sdk/node_modules/.bin/typedoc'), ['--out', docs], {
      cwd: join(root, 'sdk'),
    }),
  )
  expect(await readdir(docs)).toContain('index.md')
})
