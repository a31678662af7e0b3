/**
 * Test runners and bundlers with which the published SDK works. The table in its README lists them. They are installed
 * from the registry into a project outside of the workspace, at the versions of this file.
 *
 * @module-tag long
 * @module-tag tools
 */
import { execFile } from 'node:child_process'
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { directoryOfFile } from '@quorumscan/testkit/fixtures'
import { beforeAll, describe, expect, it } from 'vitest'

const root = join(import.meta.dirname, '../..')
const run = promisify(execFile)
const project = directoryOfFile()

const DEPENDENCIES = {
  '@react-native/babel-preset': '0.82.1',
  '@tanstack/react-query': '5.108.0',
  'happy-dom': '20.14.6',
  jest: '30.5.2',
  'jest-environment-jsdom': '30.5.2',
  jsdom: '27.4.0',
  metro: '0.84.6',
  react: '19.3.1',
  'react-dom': '19.3.1',
  vitest: '4.1.12',
  webpack: '5.113.0',
}

/** A component of a wallet, over entries in memory. */
const SHOWN = `
import { NamesProvider, useName } from '@quorumscan/sdk/react'
import { fakeNames } from '@quorumscan/sdk/testing/fakes'
import { QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { createElement as h } from 'react'
import { createRoot } from 'react-dom/client'
export const party = 'alice::1220' + 'a'.repeat(64)
export async function shown() {
  const names = fakeNames({ alice: party })
  const root = document.createElement('div')
  const wanted = 'proven ' + party
  const done = new Promise((resolve) => {
    const Payee = () => {
      const { shown, party } = useName('alice')
      const text = shown.kind + ' ' + (party ?? shown.error?.message)
      if (text === wanted || shown.kind === 'failed') resolve(text)
      return h('p', null, text)
    }
    const app = createRoot(root)
    const tree = h(NamesProvider, { names }, h(Payee))
    app.render(h(QueryClientProvider, { client: new QueryClient() }, tree))
  })
  return done
}
`
const SHOWS = `
test('a component shows the owner', async () => {
  expect(await shown()).toBe('proven ' + party)
})
`
/** With the `fetch` and the `AbortController` of the environment, one of which may be that of Node. */
const READS = `
import http from 'node:http'
import { createValidator } from '@quorumscan/sdk'
import { expect, test } from 'vitest'
test('a client reads with the signal and the fetch of the environment', async () => {
  const [one, zero] = ['1.0000000000', '0.0000000000']
  const body = { round: 1, effective_unlocked_qty: one, effective_locked_qty: zero, total_holding_fees: zero }
  const headers = { 'content-type': 'application/json', 'access-control-allow-origin': '*' }
  const server = http.createServer((_, response) => {
    response.writeHead(200, headers)
    response.end(JSON.stringify(body))
  })
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { fetch } = globalThis
  const validator = createValidator({ url: 'http://127.0.0.1:' + server.address().port, fetch })
  const { signal } = new AbortController()
  expect((await validator.wallet.balance({ signal })).round).toBe(1)
  server.close()
})
`
const PAGE = `
import { createScan, createValidator } from '@quorumscan/sdk'
import { createResolver } from '@quorumscan/sdk/naming'
import { createSpliceScan } from '@quorumscan/sdk/splice'
globalThis.made = [createScan, createValidator, createResolver, createSpliceScan].map((one) => typeof one)
`
const FILES: Readonly<Record<string, string>> = {
  'shown.mjs': SHOWN,
  'page.mjs': PAGE,
  'jest/a.test.mjs': `import { party, shown } from '../shown.mjs'\n${SHOWS}`,
  'jest.config.mjs':
    "export default { testEnvironment: 'jsdom', transform: {}, testMatch: ['**/jest/*.test.mjs'], moduleFileExtensions: ['mjs', 'js'] }",
  'vitest/a.test.mjs': `import { expect, test } from 'vitest'\nimport { party, shown } from '../shown.mjs'\n${SHOWS}`,
  'vitest/b.test.mjs': READS,
  'babel.config.cjs': "module.exports = { presets: ['@react-native/babel-preset'] }",
  'webpack.config.cjs':
    "module.exports = { mode: 'production', entry: './page.mjs', output: { path: __dirname + '/out' } }",
  'metro.cjs': `
const metro = require('metro')
metro
  .loadConfig({}, { projectRoot: __dirname, resolver: { unstable_enablePackageExports: true } })
  .then((config) => metro.runBuild(config, { entry: 'page.mjs', out: 'metro.js', platform: 'ios' }))
`,
}

beforeAll(async () => {
  await run('npm', ['pack', './sdk', '--pack-destination', project], { cwd: root })
  const tarball = (await readdir(project)).find((file) => file.endsWith('.tgz'))
  const dependencies = { '@quorumscan/sdk': `file:${tarball}`, ...DEPENDENCIES }
  await writeFile(
    join(project, 'package.json'),
    JSON.stringify({ private: true, type: 'module', dependencies }),
  )
  for (const [name, text] of Object.entries(FILES)) {
    await mkdir(dirname(join(project, name)), { recursive: true })
    await writeFile(join(project, name), text)
  }
  const quiet = ['--no-audit', '--no-fund', '--prefer-offline', '--ignore-scripts']
  await run('npm', ['install', ...quiet], { cwd: project })
})

const tool = (path: string, args: readonly string[] = [], env: NodeJS.ProcessEnv = {}) =>
  run(process.execPath, [join(project, 'node_modules', path), ...args], {
    cwd: project,
    env: { ...process.env, ...env },
  })

describe('a component of a wallet', () => {
  it('is tested by jest 30 with jsdom, which has no coders, fetch or WebCrypto', async () => {
    await tool('jest/bin/jest.js', [], { NODE_OPTIONS: '--experimental-vm-modules' })
  })

  it.each(['jsdom', 'happy-dom'])('is tested by vitest with %s', async (environment) => {
    await tool('vitest/vitest.mjs', ['run', '--environment', environment, 'vitest/'])
  })
})

describe('a page', () => {
  it('is bundled by webpack, without a module of Node', async () => {
    const script = `require('webpack')(require('./webpack.config.cjs'), (error, stats) => {
      if (error || stats.hasErrors() || stats.hasWarnings()) throw error ?? new Error(stats.toString())
    })`
    await run(process.execPath, ['-e', script], { cwd: project })
    const text = await readFile(join(project, 'out/main.js'), 'utf8')
    expect(text).not.toMatch(/require\("(?:node:)?crypto"\)/)
  })

  it('is bundled by Metro', async () => {
    await run(process.execPath, ['metro.cjs'], { cwd: project })
    expect(await readFile(join(project, 'metro.js'), 'utf8')).toContain('createSpliceScan')
  })
})
