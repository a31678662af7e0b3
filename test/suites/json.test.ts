/**
 * JSON texts that must and must not parse, on each of our parsers; and RFC 8785, with two other implementations as oracles.
 * The bodies of all processes are in http.test.ts.
 *
 * @module-tag long
 * @module-tag suites-json
 */
import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { concatBytes, utf8 } from '@quorumscan/base'
import { isScanError } from '@quorumscan/errors'
import { decodeSubmission } from '@quorumscan/ledger'
import { submissionOf } from '@quorumscan/ledger/testing'
import { parseJson as parseReply } from '@quorumscan/reader'
import { parseJsonWithBigInts as parseBody } from '@quorumscan/server'
import { required } from '@quorumscan/testkit'
import { canonicalJson, fromUtf8, type Json, parseStrictJson } from '@quorumscan/verifier'
import fc from 'fast-check'
import { describe, it } from 'vitest'
// @boundaries-ignore No entry point exports the parsers of the SDK.
import { parseJson as parseAnswer } from '../../sdk/src/platform/parse-json.ts'
// @boundaries-ignore No entry point exports the parsers of the SDK.
import { parseExactJson as parseContract } from '../../sdk/src/splice/exact-json.ts'
import { packageFiles } from '../support/packages.ts'
import { jsonTexts } from './json-texts.ts'
import { type Exception, expectAll } from './tally.ts'

const root = join(import.meta.dirname, '../..')

/** Throws, or returns undefined, for what it refuses. */
type Parser = (bytes: Uint8Array) => unknown

/** A parser of texts. What is not UTF-8 never gets to it. */
const ofText =
  (parse: (text: string) => unknown): Parser =>
  (bytes) => {
    const text = textOf(bytes)
    return text === null ? undefined : parse(text)
  }

/** null if they are not UTF-8. */
function textOf(bytes: Uint8Array): string | null {
  try {
    return fromUtf8(bytes)
  } catch {
    return null
  }
}

const PARSERS: Readonly<Record<string, Parser>> = {
  'bodies of requests': parseBody,
  'strict JSON': ofText(parseStrictJson),
  'answers of nodes': parseReply,
  'answers that the SDK reads': ofText(parseAnswer),
  'contracts that the SDK reads': ofText(parseContract),
}

type Row = { readonly name: string; readonly expected: string; readonly actual: string }

const named = (...names: readonly string[]) => {
  const set = new Set(names)
  return ({ name }: Row) => set.has(name)
}

const DUPLICATES: Exception<Row> = {
  reason: 'a member twice in one object is refused, because two parsers read it differently',
  covers: named('y_object_duplicated_key.json', 'y_object_duplicated_key_and_value.json'),
}
const REALS: Exception<Row> = {
  reason: 'entries of the log have no numbers with fractions',
  covers: named('y_number_simple_real.json', 'y_structure_lonely_negative_real.json'),
}
/** By parser. */
const EXCEPTIONS: Readonly<Record<string, readonly Exception<Row>[]>> = {
  'bodies of requests': [DUPLICATES],
  'strict JSON': [DUPLICATES],
  'contracts that the SDK reads': [DUPLICATES],
}

/** The argument of `SUBMISSION`, as JSON, in the place of which texts are put. */
const ARGUMENT = '"argument of the test"'
const SUBMISSION = submissionOf({
  actAs: [`alice::1220${'cd'.repeat(32)}`],
  commands: [{ kind: 'create', template: 't', argument: JSON.parse(ARGUMENT) }],
})

/** Whether JavaScript writes the same text. Entries of the log are written so (RFC 8785). */
function isCompact(bytes: Uint8Array): boolean {
  const text = fromUtf8(bytes)
  return JSON.stringify(JSON.parse(text)) === text
}

function resultOf(parse: Parser, bytes: Uint8Array): string {
  try {
    return parse(bytes) === undefined ? 'refused' : 'accepted'
  } catch (error) {
    const isRefusal =
      error instanceof SyntaxError ||
      error instanceof RangeError ||
      (isScanError(error) && error.code === 'MALFORMED_BODY')
    return isRefusal ? 'refused' : String(error)
  }
}

describe('JSONTestSuite', () => {
  it.for(Object.keys(PARSERS))('%s', async (parser, context) => {
    const texts = await jsonTexts(context)
    const rows = texts.flatMap(({ name, bytes, isValid }) =>
      isValid === null
        ? []
        : [
            {
              name,
              expected: isValid ? 'accepted' : 'refused',
              actual: resultOf(PARSERS[parser] as Parser, bytes),
            },
          ],
    )
    expectAll(`JSONTestSuite, ${parser}`, rows, EXCEPTIONS[parser])
  })

  it('the verifier in Python', async (context) => {
    const texts = (await jsonTexts(context)).filter(({ isValid }) => isValid !== null)
    const results = runPython<readonly boolean[]>(
      `
from verify_certified import Refused, parse_json
def accepts(text):
    try:
        parse_json(bytes.fromhex(text).decode(), "rule")
        return True
    except (Refused, UnicodeDecodeError):
        return False
print(json.dumps([accepts(text) for text in json.load(sys.stdin)]))`,
      texts.map(({ bytes }) => Buffer.from(bytes).toString('hex')),
      join(root, 'test/vectors'),
    )
    const rows = texts.map(({ name, isValid }, index) => ({
      name,
      expected: isValid ? 'accepted' : 'refused',
      actual: results[index] ? 'accepted' : 'refused',
    }))
    expectAll('JSONTestSuite, the verifier in Python', rows)
  })

  it('entries of the log', async (context) => {
    const [start = '', end = ''] = canonicalJson(SUBMISSION).split(ARGUMENT)
    const isAccepted = (argument: Uint8Array) =>
      decodeSubmission(concatBytes([utf8(start), argument, utf8(end)])) !== undefined
    const rows = (await jsonTexts(context)).flatMap(({ name, bytes, isValid }) =>
      isValid === null
        ? []
        : [
            {
              name,
              expected: isValid && isCompact(bytes) ? 'accepted' : 'refused',
              actual: isAccepted(bytes) ? 'accepted' : 'refused',
            },
          ],
    )
    expectAll('JSONTestSuite, entries of the log', rows, [REALS])
  })

  it('values are those of JSON.parse', async (context) => {
    const rows = (await jsonTexts(context)).flatMap(({ name, bytes, isValid }) => {
      if (isValid !== true || DUPLICATES.covers({ name, expected: '', actual: '' })) return []
      const expected = JSON.stringify(JSON.parse(fromUtf8(bytes)))
      return [{ name, expected, actual: JSON.stringify(parseStrictJson(fromUtf8(bytes))) }]
    })
    expectAll('JSONTestSuite, values', rows)
  })
})

function runPython<Result>(code: string, input: unknown, ...paths: readonly string[]): Result {
  const program = `import json, sys\nsys.path[:0] = ${JSON.stringify(paths)}\n${code}`
  const env = { ...process.env, PYTHONDONTWRITEBYTECODE: '1' }
  const options = { env, input: JSON.stringify(input), maxBuffer: 2 ** 28 }
  return JSON.parse(String(execFileSync(required('python3'), ['-c', program], options)))
}

const RUNS = 20_000

/** Our canonical JSON, or `refused`. */
function ourText(value: Json): string {
  try {
    return canonicalJson(value)
  } catch (error) {
    if (error instanceof RangeError) return 'refused'
    throw error
  }
}

describe('RFC 8785', () => {
  const isOfFractions = named('values.json')
  const FRACTIONS: Exception<Row> = {
    reason: 'numbers that are no safe integers are refused: nothing that is hashed has any',
    covers: (row) => row.actual === 'refused' && isOfFractions(row),
  }

  it('the vectors of its authors', async (context) => {
    const directory = join(await packageFiles(context, 'rfc8785'), 'rfc8785-0.1.4/test/assets')
    const rows = readdirSync(join(directory, 'input')).map((name) => {
      const value = JSON.parse(readFileSync(join(directory, 'input', name), 'utf8'))
      const hex = readFileSync(join(directory, 'outhex', name.replace('.json', '.txt')), 'utf8')
      return {
        name,
        expected: Buffer.from(hex.replace(/\s/g, ''), 'hex').toString(),
        actual: ourText(value),
      }
    })
    expectAll('RFC 8785, vectors of its authors', rows, [FRACTIONS])
  })

  /** Any values, with the names and texts that sort and escape differently in other languages. */
  const values = () => {
    const text = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.constantFrom(
        '\ud83d\ude00',
        '\ufb33',
        '\u20ac',
        '\r',
        '\u0080',
        '\u2028',
        '__proto__',
        '"',
        '\\',
      ),
      fc.array(fc.constantFrom('\ud83d', '\ude00', 'a', '\ue000')).map((units) => units.join('')),
    )
    const { value } = fc.letrec<{ value: unknown }>((tie) => ({
      value: fc.oneof(
        { depthSize: 'small' },
        fc.constantFrom(null, true, false, -0, 0),
        fc.maxSafeInteger(),
        text,
        fc.array(tie('value'), { maxLength: 5 }),
        fc
          .array(fc.tuple(text, tie('value')), { maxLength: 5 })
          .map((members) => JSON.parse(objectOf(members))),
      ),
    }))
    return fc.sample(value, { seed: 8785, numRuns: RUNS }) as Json[]
  }
  /** By its text, because an assignment to `__proto__` makes no member. */
  const objectOf = (members: readonly (readonly [string, unknown])[]) =>
    `{${members.map(([name, inner]) => `${JSON.stringify(name)}:${JSON.stringify(inner)}`).join(',')}}`

  it('canonicalize, of npm, makes the same of random values', async (context) => {
    const directory = await packageFiles(context, 'canonicalize')
    const file = pathToFileURL(join(directory, 'package/lib/canonicalize.js'))
    const { default: canonicalize } = await import(file.href)
    const theirs = (value: Json) => {
      try {
        return canonicalize(value)
      } catch {
        return 'refused'
      }
    }
    const rows = values().map((value) => ({
      name: JSON.stringify(value),
      expected: theirs(value),
      actual: ourText(value),
    }))
    expectAll('RFC 8785, canonicalize', rows)
  })

  it('rfc8785, of PyPI, makes the same of random values', async (context) => {
    const directory = await packageFiles(context, 'rfc8785')
    const all = values()
    const theirs = runPython<readonly string[]>(
      `
import rfc8785
def text(value):
    try:
        return rfc8785.dumps(json.loads(value)).hex()
    except (rfc8785.CanonicalizationError, UnicodeEncodeError):
        return ""
print(json.dumps([text(value) for value in json.load(sys.stdin)]))`,
      all.map((value) => JSON.stringify(value)),
      join(directory, 'rfc8785-0.1.4/src'),
    )
    const rows = all.map((value, index) => ({
      name: JSON.stringify(value),
      expected: Buffer.from(theirs[index] ?? '', 'hex').toString() || 'refused',
      actual: ourText(value),
    }))
    expectAll('RFC 8785, rfc8785', rows)
  })
})
