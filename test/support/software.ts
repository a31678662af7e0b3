/** Software of another release: a copy of the build with some changed files. Third-party packages are shared. */
import { execFile } from 'node:child_process'
import { cp, mkdir, readdir, readFile, realpath, symlink, writeFile } from 'node:fs/promises'
import { dirname, join, relative } from 'node:path'
import { promisify } from 'node:util'

const ROOT = join(import.meta.dirname, '../..')
const SCOPE = '@quorumscan'
/** Parts of a workspace that are copied. */
const PARTS = ['package.json', 'dist', 'bin', 'node_modules']

/** Types and source maps are not copied. */
const isExecuted = (path: string) => !/\.(?:map|d\.ts)$/.test(path)

/** A replacement in a file below the root of a copy. `from` must occur exactly once. */
type Edit = { readonly file: string; readonly from: string; readonly to: string }

/** Adds a protocol version that differs from the newest one in the limit of a tap, in coin times 10^10. */
export function nextVersion(tapMax: bigint): Edit {
  const from = 'export const NEWEST_RULES'
  const previous = 'KNOWN_RULES.at(-1)'
  const next = `{ ...${previous}, version: ${previous}.version + 1, tapMax: ${tapMax}n }`
  return {
    file: 'packages/ledger/dist/rules.js',
    from,
    to: `KNOWN_RULES.push(${next});\n${from}`,
  }
}

/** The time after which a newer protocol version applies to blocks, in place of ten minutes. */
export const EARLY_BLOCK_RULES_MS = 45_000
/** Shortens this time. All members of a network must have this edit. */
export const EARLY_BLOCK_RULES: Edit = {
  file: 'packages/ledger/dist/limits.js',
  from: 'BLOCK_RULES_DELAY_MICROS = 600_000_000',
  to: `BLOCK_RULES_DELAY_MICROS = ${1000 * EARLY_BLOCK_RULES_MS}`,
}

/** Changes the layout of replicas in Redis. */
export const OTHER_LAYOUT: Edit = {
  file: 'packages/replica/dist/storage/head.js',
  from: 'const LAYOUT = ',
  to: 'const LAYOUT = 100 + ',
}

/**
 * Copies the build, and applies the edits.
 *
 * @returns The `quorumscan` command of the copy.
 * @throws {Error} If an edit does not match its file exactly once.
 */
export async function copySoftware(directory: string, edits: readonly Edit[]): Promise<string> {
  const modules = join(ROOT, 'node_modules')
  const [shared, own] = await Promise.all([readdir(modules), readdir(join(modules, SCOPE))])
  const names = [...own.map((name) => join(SCOPE, name)), 'quorumscan']
  await mkdir(join(directory, 'node_modules', SCOPE), { recursive: true })
  for (const name of shared.filter((one) => one !== SCOPE && one !== 'quorumscan'))
    await symlink(join(modules, name), join(directory, 'node_modules', name))
  for (const name of names) {
    const workspace = await realpath(join(modules, name))
    const place = join(directory, relative(await realpath(ROOT), workspace))
    const present = await readdir(workspace)
    for (const part of PARTS.filter((one) => present.includes(one)))
      await cp(join(workspace, part), join(place, part), { recursive: true, filter: isExecuted })
    const link = join(directory, 'node_modules', name)
    await symlink(relative(dirname(link), place), link)
  }
  for (const { file, from, to } of edits) {
    const text = await readFile(join(directory, file), 'utf8')
    if (text.split(from).length !== 2) throw new Error(`${file} must contain once: ${from}`)
    await writeFile(join(directory, file), text.replace(from, to))
  }
  return join(directory, 'apps/cli/bin/quorumscan.mjs')
}

/** The newest version of the protocol that the software knows. */
export async function newestKnown(directory: string): Promise<number> {
  const module = join(directory, 'packages/ledger/dist/index.js')
  const program = `console.log((await import(${JSON.stringify(module)})).NEWEST_RULES.version)`
  const args = ['--input-type=module', '--eval', program]
  return Number((await promisify(execFile)(process.execPath, args)).stdout)
}
