/** @module-tag rest */
import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { required } from '@quorumscan/testkit'
import { expect, it } from 'vitest'

// `python3 mutate_certified.py` and `node mutate-library.mjs` run all mutants, in a minute.
it.for([
  ['python3', 'mutate_certified.py'],
  ['node', 'mutate-library.mjs'],
] as const)(
  'vectors detect each removed check that is not redundant (%s %s, every 16th check)',
  ([language, program]) => {
    const command = language === 'node' ? process.execPath : required(language)
    const printed = execFileSync(command, [join(import.meta.dirname, program), '16'], {
      encoding: 'utf8',
    })
    expect(printed).toMatch(/^\d\d removals, \d survive\n/)
    expect(printed).not.toContain('NOT LISTED')
  },
)
