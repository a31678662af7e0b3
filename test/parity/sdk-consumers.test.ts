/** The published types of the SDK compile in a user's project, by the compilers and resolutions in use. */
import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'

const root = join(import.meta.dirname, '../..')
const tsc = {
  'TypeScript 5.9': join(root, 'sdk/node_modules/typescript/bin/tsc'),
  'TypeScript 7': join(root, 'node_modules/typescript/bin/tsc'),
}
/** A few seconds, on a machine that does nothing else. */
const COMPILE_MS_MAX = 120_000
const run = promisify(execFile)
const compile = (compiler: string, args: readonly string[]) =>
  run(process.execPath, [compiler, ...args]).then(
    () => '',
    (error: { stdout: string }) => error.stdout,
  )

const consumer = `
import { createScanClient, createValidatorClient, type ErrorBody } from '@quorumscan/sdk/raw'

const scan = createScanClient({ baseUrl: 'http://localhost' })
const validator = createValidatorClient({ baseUrl: 'http://localhost', token: async () => 't' })

export async function owner(name: string): Promise<string | null> {
  const { data, error } = await scan.GET('/v0/ans-entries/by-name/{name}', {
    params: { path: { name }, header: { 'x-read-at-offset': 7 } },
  })
  if (error !== undefined) throw new Error((error satisfies ErrorBody).error)
  const expiresAt: string | null = data.entry.expires_at
  return expiresAt === null ? null : data.entry.user
}

export async function register(): Promise<string | undefined> {
  await validator.POST('/v0/register', { body: {} })
  await validator.POST('/v0/register')
  const { data } = await validator.POST('/v0/wallet/tap', { body: { amount: '10.0' } })
  return data?.contract_id
}

export async function batch() {
  const { data } = await validator.POST('/v0/scan-proxy/ans-entries/batch', {
    params: { query: { quorum: 'strong' } },
    body: { lookups: [{ name: 'a' }, { party: 'b' }] },
  })
  return data?.results.map(({ entry }) => entry?.name ?? null)
}

// @ts-expect-error A page without a size is refused.
void scan.GET('/v0/ans-entries', { params: { query: {} } })
// @ts-expect-error No such operation.
void scan.GET('/v0/entries')
// @ts-expect-error An amount is a text.
void validator.POST('/v0/wallet/tap', { body: { amount: 10 } })
// @ts-expect-error A lookup names something.
void validator.POST('/v0/scan-proxy/ans-entries/batch', { body: { lookups: [{}] } })
`

let project: string

beforeAll(async () => {
  project = await mkdtemp(join(tmpdir(), 'qs-sdk-'))
  const sdk = join(project, 'node_modules/@quorumscan/sdk')
  await mkdir(sdk, { recursive: true })
  await symlink(join(root, 'sdk/package.json'), join(sdk, 'package.json'))
  for (const name of ['openapi-fetch', 'openapi-typescript-helpers'])
    await symlink(join(root, 'node_modules', name), join(project, 'node_modules', name))
  await writeFile(join(project, 'package.json'), '{"type":"module"}')
  await writeFile(join(project, 'consumer.ts'), consumer)
  const built = await compile(tsc['TypeScript 5.9'], [
    ...['-p', join(root, 'sdk'), '--outDir', join(sdk, 'dist')],
  ])
  expect(built).toBe('')
}, COMPILE_MS_MAX)

afterAll(() => rm(project, { recursive: true, force: true }))

test.each([
  ['TypeScript 5.9', 'nodenext', 'nodenext'],
  ['TypeScript 7', 'nodenext', 'nodenext'],
  ['TypeScript 7', 'esnext', 'bundler'],
] as const)(
  '%s, module %s, resolution %s',
  async (compiler, module, moduleResolution) => {
    const config = join(project, `tsconfig.${moduleResolution}.json`)
    const compilerOptions = {
      module,
      moduleResolution,
      target: 'es2022',
      lib: ['es2022', 'dom', 'dom.iterable'],
      types: [],
      strict: true,
      noEmit: true,
      // The files of the package as they are, seen from the project.
      preserveSymlinks: true,
    }
    await writeFile(config, JSON.stringify({ compilerOptions, files: ['consumer.ts'] }))
    expect(await compile(tsc[compiler], ['-p', config])).toBe('')
  },
  COMPILE_MS_MAX,
)
