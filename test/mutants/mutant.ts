/**
 * One mutant: a small change of a line of the product. `npm run mutants` passes it to vitest in `QS_MUTANT`; the plugin
 * changes the module while it is loaded, so that no file is ever changed.
 */
import { join } from 'node:path'
import type { Plugin } from 'vitest/config'

const ROOT = join(import.meta.dirname, '../..')

/** The text from `start` to `end` of a file becomes `text`. */
export type Mutant = {
  /** From the root of the repository. */
  readonly file: string
  readonly start: number
  readonly end: number
  readonly text: string
}

/** The plugins that make the mutant of the environment; none without one. */
export function mutantPlugins(env: NodeJS.ProcessEnv = process.env): Plugin[] {
  const described = env['QS_MUTANT']
  if (described === undefined) return []
  const mutant: Mutant = JSON.parse(described)
  const path = join(ROOT, mutant.file)
  return [
    {
      name: 'mutant',
      enforce: 'pre',
      transform: (code, id) => (id.split('?')[0] === path ? mutated(code, mutant) : null),
      // What was compiled without the mutant is not read from the cache.
      configureVitest({ experimental_defineCacheKeyGenerator }) {
        experimental_defineCacheKeyGenerator(({ id }) =>
          id.split('?')[0] === path ? false : undefined,
        )
      },
    },
  ]
}

export function mutated(code: string, { start, end, text }: Omit<Mutant, 'file'>): string {
  return code.slice(0, start) + text + code.slice(end)
}
