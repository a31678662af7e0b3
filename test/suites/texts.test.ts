/**
 * Times as RFC 3339 writes them, with the cases of the JSON Schema Test Suite, and names with characters that look like
 * others, by Unicode's table of confusables.
 *
 * @module-tag long
 * @module-tag suites-texts
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseZonedTime } from '@quorumscan/ledger'
import { findEntryFieldViolation, isQualified, parseInstant, readFqpn } from '@quorumscan/verifier'
import fc from 'fast-check'
import { describe, it } from 'vitest'
import { PACKAGES, packageFiles } from '../support/packages.ts'
import { type Exception, expectAll } from './tally.ts'

type Row = { readonly name: string; readonly expected: boolean; readonly actual: boolean }

describe('RFC 3339', () => {
  const isAccepted = (text: string) => parseZonedTime(text) !== undefined
  const LEAP: Exception<Row> = {
    reason: 'second 60 is refused: the ledger has none',
    covers: ({ name }) => /:60/.test(name),
  }
  const YEARS: Exception<Row> = {
    reason: 'times before 1970 and after 2255 are none of the ledger',
    covers: ({ name }) => /^(0|1[0-8]|19[0-6])|^(225[6-9]|22[6-9]|2[3-9]|[3-9])/.test(name),
  }

  it('JSON Schema Test Suite, date-time', async (context) => {
    const { name, version } = PACKAGES.jsonSchemaTests
    const directory = await packageFiles(context, 'jsonSchemaTests')
    const file = 'json/tests/draft2020-12/optional/format/date-time.json'
    type Group = { readonly tests: readonly { readonly data: unknown; readonly valid: boolean }[] }
    const groups: readonly Group[] = JSON.parse(
      readFileSync(join(directory, `${name}-${version}`, file), 'utf8'),
    )
    const rows = groups.flatMap(({ tests }) =>
      tests.flatMap(({ data, valid }) =>
        typeof data === 'string' ? [{ name: data, expected: valid, actual: isAccepted(data) }] : [],
      ),
    )
    expectAll('JSON Schema Test Suite, date-time', rows, [LEAP, YEARS])
  })

  /** RFC 3339 §5.6, without the leap second. */
  const FULL = {
    year: '2026',
    month: '11',
    day: '30',
    t: 'T',
    hour: '10',
    minute: '20',
    second: '30',
    fraction: '',
    zone: 'Z',
  }
  const write = (change: Partial<typeof FULL>) => {
    const { year, month, day, hour, minute, second, t, fraction, zone } = {
      ...FULL,
      ...change,
    }
    return `${year}-${month}-${day}${t}${hour}:${minute}:${second}${fraction}${zone}`
  }

  it('times made from RFC 3339 §5.6', () => {
    const valid = [
      ...['', '.0', '.1', '.123456', '.123456789', '.000000000'].map((fraction) => ({ fraction })),
      ...[
        'Z',
        'z',
        '+00:00',
        '-00:00',
        '+17:59',
        '-18:00',
        '+18:01',
        '-23:59',
        '-12:34',
        '+09:09',
      ].map((zone) => ({ zone })),
      { t: 't' },
      { t: 't', zone: 'z' },
      { month: '02', day: '28' },
      { year: '2028', month: '02', day: '29' },
      { hour: '00', minute: '00', second: '00' },
      { hour: '23', minute: '59', second: '59' },
    ].map(write)
    const invalid = [
      ...['.', ',5', '.-1', '. 1', '.1234567890', '.1e3', '.٣'].map((fraction) => ({ fraction })),
      ...[
        '',
        'ZZ',
        ' Z',
        'UTC',
        '+0909',
        '+09',
        '+9:09',
        '+24:00',
        '-00:60',
        '+09:0',
        '+09:090',
        '−09:00',
        'Z+00:00',
      ].map((zone) => ({ zone })),
      ...['', ' ', '_', '\t', 'TT', 'т'].map((t) => ({ t })),
      ...['26', '02026', '+2026', '-2026', '２０２６', '20 6'].map((year) => ({ year })),
      ...['0', '00', '13', '1', '1 ', '011'].map((month) => ({ month })),
      ...['00', '31', '32', '1', '031'].map((day) => ({ day })),
      { month: '02', day: '29' },
      { month: '02', day: '30' },
      ...['24', '25', '1', '-1', '010'].map((hour) => ({ hour })),
      ...['60', '99', '1', '-1'].map((minute) => ({ minute })),
      ...['60', '61', '99', '1', '-1', ''].map((second) => ({ second })),
    ].map(write)
    const others = [
      '2026-11-30T10:20Z',
      '2026-11-30',
      '10:20:30Z',
      '20261130T102030Z',
      '2026-W49-1T10:20:30Z',
      '2026-334T10:20:30Z',
      ' 2026-11-30T10:20:30Z',
      '2026-11-30T10:20:30Z ',
      '2026-11-30T10:20:30Z\n',
      '1796034030',
      'now',
      '',
    ]
    const rows = [
      ...valid.map((name) => ({ name, expected: true, actual: isAccepted(name) })),
      ...[...invalid, ...others].map((name) => ({
        name,
        expected: false,
        actual: isAccepted(name),
      })),
    ]
    expectAll('RFC 3339, made from §5.6', rows, [
      {
        reason: 'offsets of more than 18 hours are refused, as by java.time',
        covers: ({ name }) => /[+-](18:01|23:59)$/.test(name),
      },
    ])
  })

  it('the instant is that of the calendar of JavaScript', () => {
    const offsets = fc.integer({ min: -18 * 60, max: 18 * 60 })
    const seconds = fc.integer({ min: 100_000, max: 9_000_000_000 })
    const two = (value: number) => String(value).padStart(2, '0')
    const samples = fc.sample(fc.tuple(seconds, offsets), { seed: 3339, numRuns: 20_000 })
    const rows = samples.map(([second, minutes]) => {
      // biome-ignore lint/style/noRestrictedGlobals: Date is the oracle here.
      const local = new Date((second + minutes * 60) * 1000).toISOString().slice(0, 19)
      const size = Math.abs(minutes)
      const zone = `${minutes < 0 ? '-' : '+'}${two(Math.trunc(size / 60))}:${two(size % 60)}`
      const name = `${local}${zone}`
      return { name, expected: second * 1_000_000, actual: parseZonedTime(name) }
    })
    expectAll('RFC 3339, instants', rows)
  })

  it('times of our own interfaces have one spelling', () => {
    const right = '2026-11-30T10:20:30.000000Z'
    const all = [
      right,
      right.toLowerCase(),
      right.replace('Z', '+00:00'),
      right.replace('.000000', ''),
      `${right} `,
    ]
    const rows = all.map((name) => ({
      name,
      expected: name === right,
      actual: parseInstant(name) !== undefined,
    }))
    expectAll('RFC 3339, our own interfaces', rows)
  })
})

describe('confusables', () => {
  const NAME = 'alice-1_x.unverified.ns'
  const QUALIFIED = `mainnet:cns:${NAME}`

  /** Characters that look like another one, with what they look like. */
  async function confusables(context: Parameters<typeof packageFiles>[0]) {
    const directory = await packageFiles(context, 'confusables')
    const table = readFileSync(join(directory, 'package/data/confusables.json'), 'utf8')
    return Object.entries(JSON.parse(table) as Record<string, string>)
  }

  /** The text with this character in place of each that it looks like, or may be taken for, and next to each. */
  function* variants(text: string, character: string, likeness: string): Generator<string> {
    for (let at = 0; at < text.length; at++) {
      if (likeness.includes(text[at] as string) || character.toLowerCase() === text[at])
        yield text.slice(0, at) + character + text.slice(at + 1)
    }
  }

  const isAscii = (text: string) => /^[ -~]*$/.test(text)
  const isName = (name: string) =>
    findEntryFieldViolation({ name, url: '', description: '' }) === undefined

  it('in place of each character of a name', async (context) => {
    const rows = (await confusables(context))
      .filter(([character]) => !isAscii(character))
      .flatMap(([character, likeness]) =>
        [...variants(NAME, character, likeness)].map((name) => ({
          name,
          expected: 'refused',
          actual: isName(name) ? 'accepted' : 'refused',
        })),
      )
    expectAll('confusables, names', [
      { name: NAME, expected: 'accepted', actual: isName(NAME) ? 'accepted' : 'refused' },
      ...rows,
    ])
  })

  it('before, between and after all characters of a name', async (context) => {
    const rows = (await confusables(context))
      .filter(([character]) => !isAscii(character))
      .flatMap(([character]) =>
        Array.from({ length: NAME.length + 1 }, (_, at) => {
          const name = NAME.slice(0, at) + character + NAME.slice(at)
          return { name, expected: 'refused', actual: isName(name) ? 'accepted' : 'refused' }
        }),
      )
    expectAll('confusables, added to names', rows)
  })

  it('in a qualified name', async (context) => {
    const rows = (await confusables(context))
      .filter(([character]) => !isAscii(character))
      .flatMap(([character, likeness]) =>
        [...variants(QUALIFIED, character, likeness)].map((name) => ({
          name,
          expected: 'refused',
          actual: readFqpn(name) === undefined ? 'refused' : 'accepted',
        })),
      )
    expectAll('confusables, qualified names', [
      {
        name: QUALIFIED,
        expected: 'accepted',
        actual:
          readFqpn(QUALIFIED) !== undefined && isQualified(QUALIFIED) ? 'accepted' : 'refused',
      },
      ...rows,
    ])
  })
})
