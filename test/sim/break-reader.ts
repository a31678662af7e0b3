/** Broken readers: each is a reader with one text of its source replaced. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type * as certified from '@quorumscan/reader/certified'
import type * as voted from '@quorumscan/reader/voted'
import { build } from 'esbuild'

export type Mutation = {
  readonly mistake: string
  /** Below `packages`. */
  readonly file: string
  /** A text that the file contains exactly once. */
  readonly text: string
  readonly by: string
}

type Readers = { readonly certified: typeof certified; readonly voted: typeof voted }

const PACKAGES = join(import.meta.dirname, '../../packages')

/** The reader of this entry, with what it imports, as a module of its own. */
export async function breakReader<Entry extends keyof Readers>(
  entry: Entry,
  { mistake, file, text, by }: Mutation,
): Promise<Readers[Entry]> {
  const path = join(PACKAGES, file)
  const source = readFileSync(path, 'utf8')
  const count = source.split(text).length - 1
  if (count !== 1)
    throw new Error(
      `mutant "${mistake}": ${file} contains its text ${count} times, not once: ${text}`,
    )
  const { outputFiles } = await build({
    stdin: {
      contents: `export * from '@quorumscan/reader/${entry}'`,
      resolveDir: import.meta.dirname,
    },
    conditions: ['@quorumscan/source'],
    bundle: true,
    format: 'esm',
    write: false,
    plugins: [
      {
        name: 'break',
        setup: ({ onLoad }) =>
          onLoad({ filter: /\.ts$/ }, (args) =>
            args.path === path ? { contents: source.replace(text, () => by), loader: 'ts' } : null,
          ),
      },
    ],
  })
  const code = outputFiles[0]?.contents ?? new Uint8Array(0)
  return await import(`data:text/javascript;base64,${Buffer.from(code).toString('base64')}`)
}
