/**
 * Clients that generators make from our documents with their default settings compile under `strict`, and require only
 * the members that the server requires. The test installs the generators, because one of them has 254 packages, which a
 * user who only starts a cluster does not need.
 *
 * @module-tag long
 * @module-tag generators
 */
import { execFile } from 'node:child_process'
import { copyFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { directoryOfFile } from '@quorumscan/testkit/fixtures'
import { beforeAll, expect, it } from 'vitest'

const root = join(import.meta.dirname, '../..')
const NAMES = ['scan', 'validator', 'synchronizer', 'ledger']
/** The newest versions that run on Node 20, and the version of axios that orval's output needs. */
const PACKAGES = {
  '@hey-api/openapi-ts': '0.95.0',
  'openapi-typescript': '7.13.0',
  orval: '7.21.0',
  axios: '1.12.2',
  typescript: '5.9.3',
}
/** Requests without optional members. */
const USE = `
import { createLedgerUser, getUpdates, submitAsync } from './hey-ledger/index.ts'
import { getUpdates as getUpdatesOrval, submitAsync as submitOrval } from './orval-ledger.ts'
import type { paths } from './types-ledger.ts'
import type { paths as ValidatorPaths } from './types-validator.ts'
type Body<Operation> = Operation extends { requestBody: { content: { 'application/json': infer B } } } ? B : never
const command = { CreateCommand: { templateId: '#a:B:C', createArguments: {} } }
const submission: Body<paths['/v2/commands/async/submit']['post']> = {
  commandId: 'c', actAs: ['p'], commands: [command],
}
const updates: Body<paths['/v2/updates']['post']> = {
  beginExclusive: 0,
  updateFormat: {
    includeTransactions: {
      eventFormat: { filtersByParty: { p: {} } },
      transactionShape: 'TRANSACTION_SHAPE_ACS_DELTA',
    },
  },
}
export const tap: Body<ValidatorPaths['/v0/wallet/tap']['post']> = { amount: '1' }
export const calls = [
  () => submitAsync({ body: { commandId: 'c', actAs: ['p'], commands: [command] } }),
  () => getUpdates({ body: { beginExclusive: 0, filter: null, updateFormat: {} } }),
  () => createLedgerUser({ body: { user: { id: 'u' } } }),
  () => submitOrval(submission),
  () => getUpdatesOrval(updates),
]
`

const project = directoryOfFile()
const run = async (tool: string, args: readonly string[]) => {
  try {
    await promisify(execFile)(tool, args, { cwd: project, maxBuffer: 16 * 1024 * 1024 })
    return ''
  } catch (error) {
    const { stdout, stderr } = error as { stdout: string; stderr: string }
    return stdout + stderr
  }
}
const tool = (name: string, ...args: string[]) =>
  run(join(project, 'node_modules/.bin', name), args)

beforeAll(async () => {
  const manifest = { private: true, type: 'module', devDependencies: PACKAGES }
  await writeFile(join(project, 'package.json'), JSON.stringify(manifest))
  const flags = ['--no-audit', '--no-fund', '--prefer-offline', '--ignore-scripts']
  expect(await run('npm', ['install', ...flags])).toBe('')
  for (const name of NAMES) {
    const file = `${name}.json`
    await copyFile(join(root, 'packages/api/generated', file), join(project, file))
  }
})

it('openapi-typescript, hey-api and orval make clients that compile under strict', async () => {
  for (const name of NAMES) {
    expect(await tool('openapi-typescript', `${name}.json`, '-o', `types-${name}.ts`)).toBe('')
    expect(await tool('openapi-ts', '-i', `${name}.json`, '-o', `hey-${name}`)).toBe('')
    const args = ['--input', `./${name}.json`, '--output', `./orval-${name}.ts`]
    expect(await tool('orval', ...args)).toBe('')
  }
  await writeFile(join(project, 'use.ts'), USE)
  const compilerOptions = {
    strict: true,
    noEmit: true,
    module: 'esnext',
    moduleResolution: 'bundler',
    allowImportingTsExtensions: true,
    target: 'es2022',
    lib: ['es2022', 'dom', 'dom.iterable'],
    types: [],
    skipLibCheck: true,
  }
  const config = { compilerOptions, include: ['**/*.ts'] }
  await writeFile(join(project, 'tsconfig.json'), JSON.stringify(config))
  expect(await run(join(root, 'node_modules/.bin/tsc'), ['-p', '.'])).toBe('')
})
