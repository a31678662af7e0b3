/** Broken readers: each is the reader of certified answers with one line of its source replaced. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { build } from 'esbuild'
import type * as certified from '../index.ts'

export type Mutant = {
  readonly mistake: string
  readonly file: string
  readonly line: string
  readonly by: string
}

const SOURCES = join(import.meta.dirname, '../..')

/** The reader, with what stands in a file once replaced. */
export async function breakReader({ file, line, by }: Mutant): Promise<typeof certified> {
  const path = join(SOURCES, file)
  const source = readFileSync(path, 'utf8')
  if (source.split(line).length !== 2) throw new Error(`not once in ${file}: ${line}`)
  const { outputFiles } = await build({
    entryPoints: [join(SOURCES, 'certified/index.ts')],
    bundle: true,
    format: 'esm',
    write: false,
    plugins: [
      {
        name: 'break',
        setup: ({ onLoad }) =>
          onLoad({ filter: /\.ts$/ }, (args) =>
            args.path === path ? { contents: source.replace(line, () => by), loader: 'ts' } : null,
          ),
      },
    ],
  })
  const code = outputFiles[0]?.contents ?? new Uint8Array(0)
  return await import(`data:text/javascript;base64,${Buffer.from(code).toString('base64')}`)
}

/** The same numbers in each run. */
export function createDice(): (below: number) => number {
  let state = 1
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
}
