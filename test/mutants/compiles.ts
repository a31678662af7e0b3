/** Whether the file of a mutant has the right types, next to the other files as they are. */
import { spawnSync } from 'node:child_process'
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { createDirectory } from '@quorumscan/testkit'
import { type Mutant, mutated } from './mutant.ts'

const ROOT = join(import.meta.dirname, '../..')

export function compiles(mutant: Mutant): boolean {
  using directory = createDirectory()
  const { path } = directory
  const file = join(path, mutant.file)
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, mutated(readFileSync(join(ROOT, mutant.file), 'utf8'), mutant))
  symlinkSync(join(ROOT, 'node_modules'), join(path, 'node_modules'))
  const config = join(path, 'tsconfig.json')
  const compilerOptions = {
    // Relative imports are looked for in both.
    rootDirs: [path, ROOT],
    types: ['node', 'vite/client'],
    typeRoots: [join(ROOT, 'node_modules/@types')],
    allowUnreachableCode: true,
  }
  const base = join(ROOT, 'tsconfig.base.json')
  writeFileSync(config, JSON.stringify({ extends: base, compilerOptions, files: [file] }))
  const words = [join(ROOT, 'node_modules/typescript/bin/tsc'), '-p', config]
  return spawnSync(process.execPath, words, { cwd: ROOT }).status === 0
}
