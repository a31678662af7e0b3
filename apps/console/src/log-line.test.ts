import { expect, it } from 'vitest'
import { logLineOf } from './log-line.ts'

it('shows a line of JSON in readable form', () => {
  const { text, isTrouble } = logLineOf(
    '{"level":"error","time":"1970-01-01T00:00:00.000Z","pid":1,"hostname":"h","name":"sv-1","url":"x","msg":"it failed"}',
  )
  expect(text).toMatch(/^\d\d:00:00 error it failed \{"url":"x"\}$/)
  expect(isTrouble).toBe(true)
})

it.each([
  ['{"level":"info","time":"1970-01-01T00:00:00.000Z","msg":"listening"}', false],
  ['{"level":"warn","time":0,"msg":"late"}', true],
  ['{half a line', false],
  ['123:M 22 Nov 2026 * Ready to accept connections', false],
  ['123:M 22 Nov 2026 # Fatal error loading the DB', true],
])('the line %s reports a problem: %s', (line, want) => {
  expect(logLineOf(line).isTrouble).toBe(want)
})
