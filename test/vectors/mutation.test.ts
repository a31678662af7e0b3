import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { expect, it } from 'vitest'

// All of them take a minute: `python3 mutate_certified.py`, `node mutate-library.mjs`.
it.each([
  ['python3', 'mutate_certified.py'],
  [process.execPath, 'mutate-library.mjs'],
])(
  'of the checks that %s %s removes, every sixteenth, vectors notice each that is not redundant',
  (command, program) => {
    const printed = execFileSync(command, [join(import.meta.dirname, program), '16'], {
      encoding: 'utf8',
    })
    expect(printed).toMatch(/^\d\d removals, \d survive\n/)
    expect(printed).not.toContain('NOT LISTED')
  },
)
