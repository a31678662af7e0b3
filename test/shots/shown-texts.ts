/** The texts of the console and of the transcript's commands, to detect outdated shots. */
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseSync } from 'oxc-parser'
import { ROOT } from '../support/root.ts'

export const README = join(ROOT, 'README.md')
/** Directory of the pictures, and of the digest of their texts. */
export const SHOTS = join(ROOT, 'docs/shots')
const DIGEST = join(SHOTS, 'shown-texts.sha256')

/** Sources whose texts the shots show: folders or single files. */
const SOURCES = [
  'apps/console/src',
  'cluster/src/view',
  'cluster/src/commands/format.ts',
  'apps/cli/src/resolve.ts',
]
const IS_TEST = /\.test\.tsx?$/

type Node = Readonly<Record<string, unknown>>

/**
 * Texts of a source: strings, parts of templates and text in JSX, without module names and surrounding spaces. Other
 * code may change.
 */
export function textsOf(file: string, source: string): string[] {
  const texts: string[] = []
  const visit = (value: unknown): void => {
    if (typeof value !== 'object' || value === null) return
    const node = value as Node
    const type = String(node['type'])
    if (/^(Literal|JSXText)$/.test(type) && typeof node['value'] === 'string')
      texts.push(node['value'])
    if (type === 'TemplateElement') texts.push((node['value'] as { cooked: string }).cooked)
    const isModule = /^(Import|Export(All|Named))Declaration$/.test(type)
    for (const child of isModule ? [node['declaration']] : Object.values(node)) visit(child)
  }
  visit(parseSync(file, source).program)
  return texts.map((text) => text.replace(/\s+/g, ' ').trim()).filter((text) => text !== '')
}

/** SHA-256 of all texts, independent of their order. */
export function digestOf(texts: readonly string[]): string {
  const sorted = [...new Set(texts)].sort()
  return createHash('sha256').update(JSON.stringify(sorted)).digest('hex')
}

export function currentDigest(): string {
  const files = SOURCES.flatMap((path) =>
    /\.tsx?$/.test(path)
      ? [path]
      : readdirSync(join(ROOT, path), { recursive: true, encoding: 'utf8' })
          .filter((file) => /\.tsx?$/.test(file) && !IS_TEST.test(file))
          .map((file) => join(path, file)),
  )
  return digestOf(files.flatMap((file) => textsOf(file, readFileSync(join(ROOT, file), 'utf8'))))
}

/** The digest of the texts that the shots show. */
export const recordedDigest = (): string => readFileSync(DIGEST, 'utf8').trim()
export const recordDigest = (digest: string): void => writeFileSync(DIGEST, `${digest}\n`)
