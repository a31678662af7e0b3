/** The error catalogue and the code that uses it agree. */
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
import { expect, it } from 'vitest'

const rows: readonly (readonly [string, ErrorSpec])[] = Object.entries(catalogue)

it('each code has a unique sentence', () => {
  expect(new Set(rows.map(([, spec]) => spec.doc)).size).toBe(rows.length)
})

it.each(rows)('%s has a valid name, status and sentence', (code, spec) => {
  expect(code).toMatch(/^[A-Z][A-Z0-9]*(_[A-Z0-9]+)*$/)
  expect(spec.httpStatus).toBeGreaterThanOrEqual(400)
  expect(spec.httpStatus).toBeLessThan(600)
  expect(spec.doc).toMatch(/^[A-Z].*[.]$/)
  // Errors of the client are refused before they can take effect.
  if (spec.httpStatus < 500) expect(spec.definite).toBe(true)
})

/**
 * Codes with which an error is created, in contrast to those that are compared, listed or part of a type. They are
 * arguments of errors, of `refuse` and `demand` (after the condition), values of members, pairs of a code and its
 * sentence, and either value of a condition.
 */
const MADE =
  /(?:\bnew \w*(?:Error|Refusal)\(|\brefuse\(|\bdemand\((?:(?!demand\(|isScanError\()[\s\S]){0,300}?,|[?:] |[:=] \[(?='[A-Z_]+', '[a-z]))\s*'([A-Z_]+)'(?! *\|)/g
const codesMade = (source: string) => [...source.matchAll(MADE)].map(([, code]) => code)

const root = join(import.meta.dirname, '../..')
const made = new Set(
  execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard', '*.ts'], {
    cwd: root,
    encoding: 'utf8',
  })
    .split('\n')
    .filter((file) => /^(apps|packages)\/.*\/src\//.test(file))
    .filter(
      (file) =>
        !/\.test\.ts$|\/testing\/|^packages\/(api\/src\/routes|errors|testkit)\//.test(file),
    )
    .flatMap((file) => codesMade(readFileSync(join(root, file), 'utf8'))),
)

it.each([
  ["throw new ScanError('NOT_READY', { message })", ['NOT_READY']],
  ["?? refuse(\n  'NOT_READY')", ['NOT_READY']],
  ["demand(amount > least(1, 2), 'LIMIT_EXCEEDED', 'too little')", ['LIMIT_EXCEEDED']],
  ["return { code: 'INVALID_URL', rule }", ['INVALID_URL']],
  ["const code = isSame ? 'STATE_DIVERGED' : 'LOG_FORK'", ['STATE_DIVERGED', 'LOG_FORK']],
  ["{ readonly code: 'INVALID_NAME' | 'INVALID_URL' }", []],
  ["if (error.code === 'NOT_READY') return", []],
  ["isScanError(error, 'NOT_READY')", []],
  ["demand(isGood, message)\nif (isScanError(error, 'NOT_READY'))", []],
  ["case 'NOT_READY':", []],
  ["new Set(['NOT_READY', 'INVALID_URL'])", []],
])('finds in %j the codes with which an error is created: %j', (source, codes) => {
  expect(codesMade(source)).toEqual(codes)
})

it.each(rows)('%s is the code of an error that the code creates', (code) => {
  expect(made).toContain(code)
})

it('every code is in the document of an operation, except four that have no operation', () => {
  const tables: Readonly<Record<string, RouteDef>>[] = [
    scanRoutes,
    validatorRoutes,
    synchronizerRoutes,
  ]
  const documented = new Set(
    tables.flatMap((table) => Object.values(table).flatMap((route) => errorCodesOf(route))),
  )
  // These errors occur before a request has an operation.
  const elsewhere = [
    'METHOD_NOT_ALLOWED',
    'METHOD_NOT_IMPLEMENTED',
    'HEADERS_TOO_LARGE',
    'REQUEST_TIMEOUT',
  ]
  const missing = rows.map(([code]) => code).filter((code) => !documented.has(code as never))
  expect(missing.sort()).toEqual(elsewhere.sort())
})
