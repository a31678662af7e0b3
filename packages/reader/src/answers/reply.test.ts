import { utf8 } from '@quorumscan/verifier'
import { expect, it } from 'vitest'
import { parseJson } from './reply.ts'

const nested = (depth: number) => '['.repeat(depth) + ']'.repeat(depth)

it.each([
  ['as deep as any document', nested(32), true],
  ['deeper', nested(33), false],
  ['of brackets in a text', JSON.stringify(['['.repeat(100), `"${'{'.repeat(100)}\\`]), true],
  ['deeper behind a text', `["\\\\",${nested(32)}]`, false],
  ['wide', `[${'[],'.repeat(1000)}0]`, true],
  ['broken', '[', false],
])('a body %s: %#', (_, text, isTaken) => {
  expect(parseJson(utf8(text)) !== undefined).toBe(isTaken)
})
