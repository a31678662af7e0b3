import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { provided } from '@quorumscan/testkit'
import { expect, it } from 'vitest'

// `python3 mutate_certified.py` and `node mutate-library.mjs` run all mutants, in a minute.
it.for([
  [provided('python3'), 'mutate_certified.py'],
  [process.execPath, 'mutate-library.mjs'],
] as const)(
  'vectors detect each removed check that is not redundant (%s %s, every 16th check)',
  ([command, program], { skip }) => {
    if (command === null) return skip()
    const printed = execFileSync(command, [join(import.meta.dirname, program), '16'], {
      encoding: 'utf8',
    })
    expect(printed).toMatch(/^\d\d removals, \d survive\n/)
    expect(printed).not.toContain('NOT LISTED')
  },
)
