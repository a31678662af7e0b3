/** Software of another release: a copy of what was built, in which built files are changed. Third-party packages are shared. */
import { execFile } from 'node:child_process'
import { cp, mkdir, readdir, readFile, realpath, symlink, writeFile } from 'node:fs/promises'
import { dirname, join, relative } from 'node:path'
import { promisify } from 'node:util'

const ROOT = join(import.meta.dirname, '../..')
const SCOPE = '@quorumscan'
/** Of a workspace: what it is, what was built, and what npm links before that. */
const PARTS = ['package.json', 'dist', 'bin', 'node_modules']

/** Types and maps are not. */
const isRun = (path: string) => !/\.(?:map|d\.ts)$/.test(path)

/** Below the root of a copy: what stands there, once, and what is to stand in its place. */
type Edit = { readonly file: string; readonly from: string; readonly to: string }

/** The newest version of the protocol is followed by one that differs in what a tap gives, in coin times 10^10. */
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

/** Replicas lie otherwise in Redis. */
export const OTHER_LAYOUT: Edit = {
  file: 'packages/replica/dist/storage/head.js',
  from: 'const LAYOUT = ',
  to: 'const LAYOUT = 100 + ',
}

/**
 * Copies what was built, and changes it.
 *
 * @returns The `quorumscan` command of the copy.
 * @throws {Error} If a change does not fit what was built.
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
    const there = await readdir(workspace)
    for (const part of PARTS.filter((one) => there.includes(one)))
      await cp(join(workspace, part), join(place, part), { recursive: true, filter: isRun })
    const link = join(directory, 'node_modules', name)
    await symlink(relative(dirname(link), place), link)
  }
  for (const { file, from, to } of edits) {
    const text = await readFile(join(directory, file), 'utf8')
    if (text.split(from).length !== 2) throw new Error(`${file} has not once ${from}`)
    await writeFile(join(directory, file), text.replace(from, to))
  }
  return join(directory, 'apps/cli/bin/quorumscan.mjs')
}

/** The newest version of the protocol that the software knows, as it says itself. */
export async function newestKnown(directory: string): Promise<number> {
  const module = join(directory, 'packages/ledger/dist/index.js')
  const program = `console.log((await import(${JSON.stringify(module)})).NEWEST_RULES.version)`
  const args = ['--input-type=module', '--eval', program]
  return Number((await promisify(execFile)(process.execPath, args)).stdout)
}
