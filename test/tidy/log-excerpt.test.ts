/** A failed test of a cluster prints from each log what shows the reason. */
import { expect, it } from 'vitest'
import { excerptOf } from '../support/log-excerpt.ts'

const repeat = (count: number, line: (index: number) => object) =>
  Array.from({ length: count }, (_, index) => line(index))

const excerpt = (...lines: (object | string)[]) =>
  excerptOf(
    lines.map((line) => (typeof line === 'string' ? line : JSON.stringify(line))).join('\n'),
  )

const refused = (offset: number) => ({ level: 'info', offset, msg: 'a lookup was refused' })
const warn = { level: 'warn', msg: 'the log cannot be read' }

it('shows the one warning, with its stack, that came before thousands of equal lines', () => {
  const err = { message: 'the state differs', stack: 'Error: the state differs\n    at apply' }
  expect(excerpt({ level: 'error', err, msg: 'diverged' }, ...repeat(1840, refused))).toBe(
    [
      'first lines of level warn or above:',
      '{"level":"error","err":{"message":"the state differs"},"msg":"diverged"}',
      'Error: the state differs\n    at apply',
      'last lines:',
      '{"level":"error","err":{"message":"the state differs"},"msg":"diverged"}',
      '{"level":"info","offset":1839,"msg":"a lookup was refused"} × 1840',
    ].join('\n'),
  )
})

it('shows the first five kinds of warnings, each as it came first', () => {
  const kinds = [...'abcdef'].map((letter) => ({ level: 'fatal', msg: letter }))
  const shown = excerpt({ ...warn, at: 1 }, { ...warn, at: 2 }, ...kinds, { level: 'info' })
  const [warnings = ''] = shown.split('\nlast lines:')
  expect(warnings).toContain('"at":1} × 2\n{"level":"fatal","msg":"a"}')
  expect(warnings).toContain('"msg":"d"}')
  expect(warnings).not.toContain('"msg":"e"}')
})

it('does not fold warnings of different causes, nor lines of different messages', () => {
  const of = (message: string) => ({ ...warn, err: { message } })
  expect(excerpt(of('refused at 1'), of('refused at 2'), of('closed'))).toContain(
    '{"level":"warn","msg":"the log cannot be read","err":{"message":"closed"}}\nlast lines:',
  )
  expect(excerpt({ _msg: 'a' }, { _msg: 'b' })).toBe('{"_msg":"a"}\n{"_msg":"b"}')
})

it('shows the last 40 lines in order, and other text as it is', () => {
  const text = repeat(41, (index) => [index]).map((index) => `line ${index}`)
  expect(excerpt(...text, '{ is no JSON')).toBe([...text.slice(2), '{ is no JSON'].join('\n'))
})
