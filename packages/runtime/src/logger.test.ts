import { AssertionError } from 'node:assert'
import { ScanError } from '@quorumscan/errors'
import { expect, it } from 'vitest'
import { createLogger } from './logger.ts'

class LogUnavailableError extends Error {
  override readonly name = 'LogUnavailableError'
}

/** What the log says about an error. */
function logged(error: unknown): { readonly message: string; readonly stack?: string } {
  const lines: string[] = []
  const logger = createLogger({
    name: 'sv-1',
    level: 'info',
    stream: { write: (line) => void lines.push(line) },
  })
  logger.warn({ err: error }, 'it failed')
  return JSON.parse(lines.join('')).err
}

it.each([
  ['of the catalogue', new ScanError('NOT_READY', 'not yet')],
  ['with a name of its own', new LogUnavailableError('the log cannot be followed')],
  ['of the system', Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' })],
  ['of a time limit', new DOMException('too late', 'TimeoutError')],
])('an expected error %s has no trace', (_, error) => {
  expect(logged(error)).toMatchObject({ message: error.message })
  expect(logged(error).stack).toBeUndefined()
})

it.each([
  ['of the catalogue', new ScanError('INTERNAL', 'a defect')],
  ['of a type', new TypeError('x is not a function')],
  ['of an argument', Object.assign(new TypeError('no text'), { code: 'ERR_INVALID_ARG_TYPE' })],
  ['of an assertion', new AssertionError({ message: 'an invariant' })],
  ['without a name', new Error('cannot be')],
])('a defect %s has its trace', (_, error) => {
  expect(logged(error).stack).toContain('logger.test.ts')
})
