import { expect, it } from 'vitest'
import { printable, printableJson, printableLines } from './printable.ts'

/** Escape sequence, C1 control, bell, override, isolate, zero width, tag, lone surrogate, line separator. */
const FOREIGN = '\u001b[2J|\u009b2J|\u0007|\u202e|\u2066|\u200b|\u{e0041}|\ud800|\u2028'
const ESCAPED =
  '\\u{1b}[2J|\\u{9b}2J|\\u{7}|\\u{202e}|\\u{2066}|\\u{200b}|\\u{e0041}|\\u{d800}|\\u{2028}'

it('escapes what controls a terminal or hides in a text, and nothing else', () => {
  expect(printable(FOREIGN)).toBe(ESCAPED)
  expect(printable('a\nb\tc')).toBe('a\\u{a}b\\u{9}c')
  expect(printableLines(`a\n\t${FOREIGN}`)).toBe(`a\n\t${ESCAPED}`)
  const plain = 'Zoë & 株式会社 🚀 المصرف "\\u{1b}"'
  expect(printable(plain)).toBe(plain)
})

it('keeps the value of JSON', () => {
  const json = printableJson(`${JSON.stringify({ [FOREIGN]: FOREIGN })}\n`)
  expect(JSON.parse(json)).toEqual({ [FOREIGN]: FOREIGN })
  expect(json).toBe(`${printableLines(json)}`)
})
