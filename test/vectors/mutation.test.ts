import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { provided } from '@quorumscan/testkit'
import { expect, it } from 'vitest'

// All of them take a minute: `python3 mutate_certified.py`, `node mutate-library.mjs`.
it.for([
  [provided('python3'), 'mutate_certified.py'],
  [process.execPath, 'mutate-library.mjs'],
] as const)(
  'of the checks that %s %s removes, every sixteenth, vectors notice each that is not redundant',
  ([command, program], { skip }) => {
    if (command === null) return skip()
    const printed = execFileSync(command, [join(import.meta.dirname, program), '16'], {
      encoding: 'utf8',
    })
    expect(printed).toMatch(/^\d\d removals, \d survive\n/)
    expect(printed).not.toContain('NOT LISTED')
  },
)
