/** The error catalogue and the code that uses it say the same. */
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import {
  errorCodesOf,
  type RouteDef,
  scanRoutes,
  synchronizerRoutes,
  validatorRoutes,
} from '@quorumscan/api'
import { catalogue, type ErrorSpec } from '@quorumscan/errors'
import { expect, test } from 'vitest'

const rows: readonly (readonly [string, ErrorSpec])[] = Object.entries(catalogue)

test('no two codes say the same: each has a sentence of its own', () => {
  expect(new Set(rows.map(([, spec]) => spec.doc)).size).toBe(rows.length)
})

test.each(rows)('%s is a code, with a status and a sentence that fit', (code, spec) => {
  expect(code).toMatch(/^[A-Z][A-Z0-9]*(_[A-Z0-9]+)*$/)
  expect(spec.httpStatus).toBeGreaterThanOrEqual(400)
  expect(spec.httpStatus).toBeLessThan(600)
  expect(spec.doc).toMatch(/^[A-Z].*[.]$/)
  // What the client did wrong was refused before it could take effect.
  if (spec.httpStatus < 500) expect(spec.definite).toBe(true)
})

const root = join(import.meta.dirname, '../..')
const productSource = execFileSync(
  'git',
  ['ls-files', '--cached', '--others', '--exclude-standard', '*.ts'],
  { cwd: root, encoding: 'utf8' },
)
  .split('\n')
  .filter((file) => /^(apps|packages)\/.*\/src\//.test(file))
  .filter(
    (file) => !/\.test\.ts$|^packages\/(api\/src\/routes|testkit)\/|catalogue\.ts$/.test(file),
  )
  .map((file) => readFileSync(join(root, file), 'utf8'))
  .join('\n')

test.each(rows)('%s is thrown somewhere', (code) => {
  expect(productSource.includes(`'${code}'`)).toBe(true)
})

test('every code that an operation can answer is in a document', () => {
  const tables: Readonly<Record<string, RouteDef>>[] = [
    scanRoutes,
    validatorRoutes,
    synchronizerRoutes,
  ]
  const documented = new Set(
    tables.flatMap((table) => Object.values(table).flatMap((route) => errorCodesOf(route))),
  )
  // These are met where there is no operation, or no request yet.
  const elsewhere = [
    'ROUTE_NOT_FOUND',
    'METHOD_NOT_ALLOWED',
    'HEADERS_TOO_LARGE',
    'REQUEST_TIMEOUT',
  ]
  const missing = rows.map(([code]) => code).filter((code) => !documented.has(code as never))
  expect(missing.sort()).toEqual(elsewhere.sort())
})
