/** The texts of JSONTestSuite. */
import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { TestContext } from 'vitest'
import { PACKAGES, packageFiles } from '../support/packages.ts'

export type JsonText = {
  readonly name: string
  readonly bytes: Uint8Array
  /** null: a parser may accept or refuse it. */
  readonly isValid: boolean | null
}

export async function jsonTexts(context: TestContext): Promise<readonly JsonText[]> {
  const { name, version } = PACKAGES.jsonTestSuite
  const directory = await packageFiles(context, 'jsonTestSuite')
  const suite = join(directory, `${name}@${version}`, 'testsuites/nst-JSONTestSuite')
  execFileSync('tar', ['xzf', join(suite, 'testdata.tar.gz'), '-C', directory])
  const texts = join(directory, 'test_parsing')
  return readdirSync(texts).map((file) => ({
    name: file,
    bytes: new Uint8Array(readFileSync(join(texts, file))),
    isValid: file.startsWith('i_') ? null : file.startsWith('y_'),
  }))
}
