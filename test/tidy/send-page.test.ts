/** The send page of the examples needs few concepts of the SDK: eight exports, values and types together. */
import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, it } from 'vitest'
import { ROOT } from '../support/root.ts'

const FOLDER = join(ROOT, 'sdk/examples/send-page/src')
const IMPORT = /^import (?:type )?(?:\{([^}]*)\} from )?'([^']+)'/gms

/** The exports of the SDK that a module and those that it imports name. */
function conceptsOf(path: string, seen = new Set<string>()): Set<string> {
  const concepts = new Set<string>()
  if (seen.has(path)) return concepts
  seen.add(path)
  for (const [, names = '', from = ''] of readFileSync(path, 'utf8').matchAll(IMPORT)) {
    if (from.startsWith('.') && /\.tsx?$/.test(from))
      for (const concept of conceptsOf(join(dirname(path), from), seen)) concepts.add(concept)
    if (from.startsWith('@quorumscan/'))
      for (const name of names.split(',')) concepts.add(name.replace('type ', '').trim())
  }
  concepts.delete('')
  return concepts
}

it('the send page needs eight exports of the SDK', () => {
  expect([...conceptsOf(join(FOLDER, 'send.tsx'))].sort()).toEqual([
    'createLocalStorageStore',
    'createResolver',
    'createScan',
    'createValidator',
    'scanNames',
    'useParty',
    'usePartyName',
    'useTransfer',
  ])
})

it('what starts the page needs no other one', () => {
  const starts = readFileSync(join(FOLDER, 'main.tsx'), 'utf8')
  expect(starts).not.toContain('@quorumscan/')
})
