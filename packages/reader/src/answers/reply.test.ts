import { utf8 } from '@quorumscan/verifier'
import { expect, it } from 'vitest'
import { parseJson, readRefusal } from './reply.ts'

const nested = (depth: number) => '['.repeat(depth) + ']'.repeat(depth)

it.each([
  ['as deep as any document', nested(32), true],
  ['deeper', nested(33), false],
  ['full of brackets in a text', JSON.stringify(['['.repeat(100), `"${'{'.repeat(100)}\\`]), true],
  ['deeper behind a text', `["\\\\",${nested(32)}]`, false],
  ['wide', `[${'[],'.repeat(1000)}0]`, true],
  ['broken', '[', false],
])('a body that is %s is parsed or refused', (_, text, isTaken) => {
  expect(parseJson(utf8(text)) !== undefined).toBe(isTaken)
})

it.each([
  ['{"code":"NOT_READY","error":"it starts"}', '7', ['NOT_READY', 'it starts', 7000]],
  ['{"code":"not a code","error":7}', '-1', ['', '', null]],
  [JSON.stringify({ code: 'A'.repeat(41) }), '1.5', ['', '', null]],
  ['<html>', '12345678', ['', '', null]],
  [JSON.stringify({ code: 'NOT_READY', error: 'x'.repeat(5000) }), '0', ['', '', 0]],
])(
  'reads code, sentence and retry-after of a refusal if well-formed: %#',
  (body, retryAfter, [code, sentence, retryAfterMs]) => {
    const header = (name: string) => (name === 'retry-after' ? retryAfter : null)
    const text = `status 503 ${code}`.trimEnd()
    const refusal = readRefusal({ status: 503, body: utf8(body), header })
    expect(refusal).toEqual({ code, text, sentence, retryAfterMs })
  },
)
