/** Mutants: modules with one text of their sources replaced. A test shows that its checks notice the mistake. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { rolldown } from 'rolldown'

export type Mutation = {
  readonly mistake: string
  /** From the root of the repository, like the paths below. */
  readonly file: string
  /** A text that the file contains exactly once. */
  readonly text: string
  readonly by: string
}

const ROOT = join(import.meta.dirname, '../../../..')

/**
 * Imports a module, with all that it imports, in which the text of the mutation is replaced.
 *
 * @param entry - Path of the module's source.
 * @param instance - Another text imports another instance of the same code.
 * @throws {Error} If the file does not contain the text exactly once.
 */
export async function importMutant<Module>(
  entry: string,
  { mistake, file, text, by }: Mutation,
  instance = '',
): Promise<Module> {
  const path = join(ROOT, file)
  const source = readFileSync(path, 'utf8')
  const count = source.split(text).length - 1
  if (count !== 1)
    throw new Error(
      `mutant "${mistake}": ${file} contains its text ${count} times, not once: ${text}`,
    )
  const build = await rolldown({
    input: join(ROOT, entry),
    platform: 'node',
    resolve: { conditionNames: ['@quorumscan/source'] },
    // The oldest Node that runs tests has no `await using`.
    transform: { target: 'node20.19' },
    logLevel: 'silent',
    plugins: [
      { name: 'replace', load: (id) => (id === path ? source.replace(text, () => by) : null) },
    ],
  })
  const { output } = await build.generate({ format: 'esm', codeSplitting: false })
  await build.close()
  const [{ code }] = output
  const url = `data:text/javascript;base64,${Buffer.from(code).toString('base64')}`
  return await import(`${url}#${instance}`)
}
