/** Software of another release: a copy of the bundles with some changed texts. */
import { execFile } from 'node:child_process'
import { cp, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { ROOT } from './root.ts'

const COMMAND = 'apps/cli/bin/quorumscan.mjs'
const CHUNKS = 'dist/chunks'
/** What the command of operators and its apps consist of. */
const PARTS = ['dist/apps', CHUNKS, COMMAND, 'apps/cli/package.json']

/** A replacement in the bundled code. `from` must occur exactly once. */
type Edit = { readonly from: string; readonly to: string }

/** Adds a protocol version that differs from the newest one in the limit of a tap, in coin times 10^10. */
export function nextVersion(tapMax: bigint): Edit {
  const from = 'const NEWEST_RULES'
  const previous = 'KNOWN_RULES.at(-1)'
  const next = `{ ...${previous}, version: ${previous}.version + 1, tapMax: ${tapMax}n }`
  return { from, to: `KNOWN_RULES.push(${next});\n${from}` }
}

/** The time after which a newer protocol version applies to blocks, in place of ten minutes. */
export const EARLY_BLOCK_RULES_MS = 45_000
/** Shortens this time. All members of a network must have this edit. */
export const EARLY_BLOCK_RULES: Edit = {
  from: 'BLOCK_RULES_DELAY_MICROS = 6e8;',
  to: `BLOCK_RULES_DELAY_MICROS = ${1000 * EARLY_BLOCK_RULES_MS};`,
}

/** Changes the layout of replicas in Redis. */
export const OTHER_LAYOUT: Edit = { from: 'const LAYOUT = ', to: 'const LAYOUT = 100 + ' }

/**
 * Copies the bundles, and applies the edits.
 *
 * @returns The `quorumscan` command of the copy.
 * @throws {Error} If an edit does not match exactly once.
 */
export async function copySoftware(directory: string, edits: readonly Edit[]): Promise<string> {
  for (const part of PARTS) await cp(join(ROOT, part), join(directory, part), { recursive: true })
  const chunks = (await readdir(join(directory, CHUNKS))).map((name) =>
    join(directory, CHUNKS, name),
  )
  const texts = new Map<string, string>()
  for (const file of chunks) texts.set(file, await readFile(file, 'utf8'))
  for (const { from, to } of edits) {
    const [match, ...others] = [...texts].filter(([, text]) => text.includes(from))
    if (match === undefined || others.length > 0 || match[1].split(from).length !== 2)
      throw new Error(`the chunks must contain once: ${from}`)
    const [file, text] = match
    texts.set(file, text.replace(from, to))
    await writeFile(file, text.replace(from, to))
  }
  return join(directory, COMMAND)
}

/**
 * Builds the software of the commit before in a clone, as its release contains it.
 *
 * @returns The `quorumscan` command of the clone.
 */
export async function buildCommitBefore(directory: string): Promise<string> {
  const execute = promisify(execFile)
  const cwd = directory
  await execute('git', ['clone', '--quiet', ROOT, directory])
  await execute('git', ['checkout', '--quiet', '--detach', 'HEAD~1'], { cwd })
  await execute('npm', ['ci', '--prefer-offline', '--no-audit', '--no-fund'], { cwd })
  await execute(process.execPath, ['build.mjs'], { cwd })
  return join(directory, COMMAND)
}

/** The number of the layout of replicas that the bundles in this directory write. */
export async function layoutOf(directory: string): Promise<number> {
  for (const name of await readdir(join(directory, CHUNKS))) {
    const text = await readFile(join(directory, CHUNKS, name), 'utf8')
    const [, layout] = /\bconst LAYOUT = ([0-9]+)/.exec(text) ?? []
    if (layout !== undefined) return Number(layout)
  }
  throw new Error(`no bundle in ${directory} has a layout of replicas`)
}

/** The newest version of the protocol that the software knows. */
export async function newestKnown(directory: string): Promise<number> {
  const command = [join(directory, COMMAND), '--version']
  const { stdout } = await promisify(execFile)(process.execPath, command)
  return Number(/^protocol versions .*?([0-9]+)$/m.exec(stdout)?.[1])
}
