/** The files of the repository. */
import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

export const root = join(import.meta.dirname, '../..')

export const files = execFileSync(
  'git',
  ['ls-files', '--cached', '--others', '--exclude-standard'],
  { cwd: root, encoding: 'utf8' },
)
  .split('\n')
  .filter((file) => file !== '' && existsSync(join(root, file)))

export const read = (file: string) => readFileSync(join(root, file), 'utf8')

export const isTest = (file: string) =>
  /\.test\.ts$/.test(file) || file.startsWith('test/') || file.startsWith('packages/testkit/')

export const sources = files.filter(
  (file) => /\.(ts|tsx|mjs)$/.test(file) && !file.includes('/generated/'),
)
export const productSources = sources.filter((file) => !isTest(file))

/** `file:line` of every line that matches. `textOf` may return a part of the file. */
export function matchingLines(paths: readonly string[], pattern: RegExp, textOf = read): string[] {
  return paths.flatMap((file) =>
    textOf(file)
      .split('\n')
      .flatMap((line, index) =>
        pattern.test(line) ? [`${file}:${index + 1} ${line.trim()}`] : [],
      ),
  )
}
