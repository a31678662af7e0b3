/**
 * Checking requests against the declared schemas (D-7): unknown members pass, everything else that
 * does not fit is refused with the path of the first member that does not.
 *
 * Values are never converted, but for parameters, queries and headers, which arrive as text: an
 * integer has digits and perhaps a sign (`10`, `010`, `+10`; not `1e1`, ` 10` or `0x0a`).
 */
import { codeByPattern, patternSentence, type RouteDef, validatorOf } from '@quorumscan/api'
import { assert } from '@quorumscan/base'
import { type ErrorCode, ScanError } from '@quorumscan/errors'
import { readInteger } from '@quorumscan/model'
import type { TObject, TSchema } from 'typebox'
import type { Validator } from 'typebox/compile'
import { createMisspeltHeaders } from './misspelt-headers.ts'

type Part = 'params' | 'query' | 'headers' | 'body'
type Check = (value: unknown) => unknown

/** A function that returns the decoded value. @throws {ScanError} INVALID_ARGUMENT or the member's own code. */
export function requestCheck(schema: TSchema, part: Part): Check {
  const decode = part === 'body' ? null : textDecoder(schema as TObject)
  return (input) => {
    const value = decode === null ? input : decode(input)
    const validator = validatorOf(schema)
    if (!validator.Check(value)) throw violation(validator.Errors(value), part)
    return value
  }
}

/** The checks of one route; a part that is not declared decodes to an empty record. */
export function requestChecks(route: RouteDef): Readonly<Record<Part, Check>> {
  const textPart = (schema: TObject | undefined, part: Part): Check =>
    schema === undefined ? () => ({}) : requestCheck(schema, part)
  const { body, bodyOptional = false } = route
  const checkBody: Check =
    typeof body === 'object'
      ? requestCheck(body, 'body')
      : (value) => (body === 'bytes' ? value : undefined)
  return {
    params: textPart(route.params, 'params'),
    query: textPart(route.query, 'query'),
    headers: withoutMisspelt(route.headers, textPart(route.headers, 'headers')),
    body: (value) => (value === undefined && bodyOptional ? undefined : checkBody(value)),
  }
}

/** Refuses headers that are nearly the name of a declared one. @param schema - Of the declared headers. */
function withoutMisspelt(schema: TObject | undefined, check: Check): Check {
  const problemOf = createMisspeltHeaders(Object.keys(schema?.properties ?? {}))
  return (input) => {
    const details = problemOf(input as object)
    if (details === null) return check(input)
    throw new ScanError('INVALID_ARGUMENT', `${details.path} ${details.rule}`, { details })
  }
}

/** Decodes declared members only, and the handler ignores other query members and headers. A schema without additional members refuses them. */
function textDecoder(schema: TObject): (input: unknown) => Record<string, unknown> {
  const members = Object.entries(schema.properties).map(
    ([name, member]) => [name, 'type' in member ? member.type : undefined] as const,
  )
  const refusesOthers = 'additionalProperties' in schema && schema.additionalProperties === false
  return (input) => {
    const texts = input as Readonly<Record<string, unknown>>
    const decoded: Record<string, unknown> = refusesOthers ? { ...texts } : {}
    for (const [name, type] of members) {
      const text = Object.hasOwn(texts, name) ? texts[name] : undefined
      if (text !== undefined) decoded[name] = decodeText(type, text)
    }
    return decoded
  }
}

/** A malformed value stays a text (or, if given twice, a list), which the schema then refuses. */
function decodeText(type: unknown, text: unknown): unknown {
  if (typeof text !== 'string') return text
  if (type === 'integer') {
    const number = Number(readInteger(text) ?? Number.NaN)
    return Number.isSafeInteger(number) ? number : text
  }
  if (type === 'boolean' && (text === 'true' || text === 'false')) return text === 'true'
  return text
}

type Violation = ReturnType<Validator['Errors']>[number]

function violation(violations: readonly Violation[], part: Part): ScanError {
  const found = pickViolation(violations)
  assert(found !== undefined, 'a refused value violates a rule')
  const missing = 'requiredProperties' in found.params ? found.params.requiredProperties : undefined
  const member = Array.isArray(missing) ? `/${String(missing[0])}` : ''
  const path = (part + found.instancePath + member).replaceAll('/', '.')
  const rule = member === '' ? ruleOf(found) : 'must be present'
  return new ScanError(codeOf(found), `${path} ${rule}`, { details: { path, rule } })
}

/** The first one. Of a union, the one of the branch that matched furthest: the client meant that branch. */
function pickViolation(violations: readonly Violation[]): Violation | undefined {
  const [first] = violations
  const union = violations.find(
    (one) => one.keyword === 'anyOf' && first?.schemaPath.startsWith(`${one.schemaPath}/anyOf/`),
  )
  if (union === undefined) return first
  const depth = (one: Violation) => one.instancePath.split('/').length
  return violations
    .filter((one) => `${one.instancePath}/`.startsWith(`${union.instancePath}/`))
    .reduce((best, one) => (depth(one) > depth(best) ? one : best))
}

function ruleOf({ keyword, message, ...found }: Violation): string {
  const sentence = patternSentence(patternOf(found))
  if (sentence !== undefined) return sentence
  // Of a member that a closed schema does not have.
  if (keyword === 'boolean') return 'is unknown'
  return keyword === 'not' ? 'must not have members that exclude each other' : message
}

function codeOf(found: Violation): ErrorCode {
  return codeByPattern[patternOf(found)] ?? 'INVALID_ARGUMENT'
}

/** The pattern that a text fails; empty: the rule is another one. */
function patternOf({ params }: Pick<Violation, 'params'>): string {
  return 'pattern' in params ? String(params.pattern) : ''
}
