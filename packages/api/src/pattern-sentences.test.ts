import { expect, it } from 'vitest'
import { patternSentence } from './pattern-sentences.ts'
import { ledgerRoutes } from './routes/ledger.ts'
import { scanRoutes } from './routes/scan.ts'
import { synchronizerRoutes } from './routes/synchronizer.ts'
import { validatorRoutes } from './routes/validator.ts'
import { emptyOr, USER_ID_PATTERN } from './schemas/ledger/grammar.ts'

/** Patterns of a schema that requests are checked against; those of `~about` are for the document alone. */
function patternsOf(schema: unknown): string[] {
  if (typeof schema !== 'object' || schema === null) return []
  return Object.entries(schema).flatMap(([key, value]) => {
    if (key === '~about') return []
    return key === 'pattern' && typeof value === 'string' ? [value] : patternsOf(value)
  })
}

it('every pattern that a request can fail is a sentence', () => {
  const tables = [scanRoutes, validatorRoutes, synchronizerRoutes, ledgerRoutes]
  const routes = tables.flatMap((table) => Object.values(table))
  const patterns = routes.flatMap(({ params, query, headers, body }) =>
    [params, query, headers, body].flatMap(patternsOf),
  )
  expect(patterns).not.toEqual([])
  for (const pattern of patterns)
    expect(patternSentence(pattern), pattern).toMatch(/^must [^{}[\]\\?*]+$/)
})

it('a text that may be empty, and one of several words', () => {
  expect(patternSentence(emptyOr(USER_ID_PATTERN))).toMatch(/^must be empty, or have 1 to 128/)
  expect(patternSentence('^(party|local_metadata\\.annotations)$')).toBe(
    'must be one of party, local_metadata.annotations',
  )
})
