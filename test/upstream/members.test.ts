/**
 * Every operation of upstream's documents, and every member of those that we implement, has a word of ours
 * (test/upstream). A member that upstream publishes is never dropped in silence.
 */
import { readFileSync } from 'node:fs'
import {
  healthRoutes,
  ledgerRoutes,
  refusedLedgerOperations,
  scanRoutes,
  validatorRoutes,
} from '@quorumscan/api'
import { describe, expect, it } from 'vitest'
import { operationName, operationsOf } from './members.mjs'
import { PAGES, readFacts, withFacts } from './summary.mjs'

type Route = {
  readonly method: string
  readonly path: string
  readonly query?: Members
  readonly headers?: Members
  readonly body?: object | string
}
type Members = { readonly properties: object }

const facts = readFacts()

/** Our routes as a document, so that members are found as upstream's are. */
function membersByOperation(routes: object): ReadonlyMap<string, ReadonlySet<string>> {
  const paths: Record<string, Record<string, object>> = {}
  for (const route of Object.values(routes) as readonly Route[]) {
    const parameters = (['query', 'headers'] as const).flatMap((part) =>
      Object.keys(route[part]?.properties ?? {}).map((name) => ({
        in: part === 'query' ? 'query' : 'header',
        name,
      })),
    )
    const content = typeof route.body === 'object' ? { json: { schema: route.body } } : {}
    const operation = { parameters, requestBody: { content } }
    paths[route.path] = { ...paths[route.path], [route.method.toLowerCase()]: operation }
  }
  return new Map(
    operationsOf({ paths }).map(({ operation, members }) => [
      operation,
      new Set(members.map(({ member }) => member)),
    ]),
  )
}

// The process that serves the ledger interface has the probes, too.
const ofLedger = membersByOperation({ ...ledgerRoutes, ...healthRoutes })
const ofScan = membersByOperation(scanRoutes)
const ofValidator = membersByOperation(validatorRoutes)

function ourOperations(document: string): ReadonlyMap<string, ReadonlySet<string>> {
  if (document === 'ledger-api') return ofLedger
  return document.startsWith('splice-validator-') ? ofValidator : ofScan
}

it('the documents are those of upstream', () => {
  expect(facts).toHaveLength(14)
  expect(facts.flatMap(({ operations }) => operations).length).toBeGreaterThan(250)
})

describe.each(facts)('$document', ({ document, operations }) => {
  const ours = ourOperations(document)

  it('has a word for each operation, which is `implemented` exactly for routes of ours', () => {
    const wrong = operations
      .filter(({ operation, word, ours: name = operation }) =>
        ours.has(name) ? word !== 'implemented' : word !== 'missing' && word !== 'refused',
      )
      .map(({ operation, word }) => `${operation}: ${word}`)
    expect(wrong).toEqual([])
  })

  it('has a word for each member of an implemented operation, which our schema has unless it has no effect', () => {
    const wrong = operations
      .filter(({ word }) => word === 'implemented')
      .flatMap(({ operation, ours: name = operation, members }) =>
        members
          .filter(({ member, word }) =>
            word === 'no effect'
              ? false
              : !(word === 'implemented' || word === 'refused') || !ours.get(name)?.has(member),
          )
          .map(({ member, word }) => `${operation} ${member}: ${word}`),
      )
    expect(wrong).toEqual([])
  })

  it('has no word for a member of an operation that is not implemented', () => {
    const others = operations.filter(({ word }) => word !== 'implemented')
    expect(others.flatMap(({ members }) => members).filter(({ word }) => word)).toEqual([])
  })
})

it('the operations that the ledger interface answers with 501 are those that the facts call refused', () => {
  const answered = refusedLedgerOperations.map((operation) => {
    const [method = '', path = ''] = operation.split(' ')
    return operationName(method, path)
  })
  const { operations = [] } = facts.find(({ document }) => document === 'ledger-api') ?? {}
  const refused = operations.filter(({ word }) => word === 'refused')
  expect(answered.toSorted()).toEqual(refused.map(({ operation }) => operation).toSorted())
})

it.each(Object.keys(PAGES) as (keyof typeof PAGES)[])(
  '%s has the present facts (`node test/upstream/generate.mjs`)',
  (path) => {
    const page = readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8')
    expect(page).toBe(withFacts(path, page))
  },
)
