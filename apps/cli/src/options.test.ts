import { afterEach, expect, it, vi } from 'vitest'
import { commandHint, print, printError, printResult, setHintOption, wrap } from './options.ts'

afterEach(() => {
  vi.restoreAllMocks()
  setHintOption('--data-dir', null)
})

function written(stream: 'stdout' | 'stderr', work: () => void): string {
  let text = ''
  vi.spyOn(process[stream], 'write').mockImplementation((chunk) => {
    text += String(chunk)
    return true
  })
  work()
  return text
}

it('adds a quoted --data-dir to suggested commands', () => {
  expect(written('stdout', () => print('`quorumscan down` stops it'))).toBe(
    '`quorumscan down` stops it\n',
  )
  setHintOption('--data-dir', '/tmp/a')
  expect(written('stdout', () => print('`quorumscan down`, or `go install`'))).toBe(
    '`quorumscan down --data-dir /tmp/a`, or `go install`\n',
  )
  // It has no such option.
  expect(written('stdout', () => print('`quorumscan keys new`'))).toBe('`quorumscan keys new`\n')
  setHintOption('--data-dir', "/tmp/what's here")
  expect(commandHint('up')).toBe("quorumscan up --data-dir '/tmp/what'\\''s here'")
})

it('escapes what texts of others could do to a terminal, and keeps the value of JSON', () => {
  const foreign = 'a\u001b[2Jb\u009bc\u202ed'
  const escaped = 'a\\u{1b}[2Jb\\u{9b}c\\u{202e}d'
  expect(written('stdout', () => print(`${foreign}\nnext`))).toBe(`${escaped}\nnext\n`)
  expect(written('stderr', () => printError(foreign))).toBe(`${escaped}\n`)
  const json = written('stdout', () => printResult({ json: true }, { foreign }, ''))
  expect(json).toBe('{"foreign":"a\\u001b[2Jb\\u009bc\\u202ed"}\n')
  expect(JSON.parse(json)).toEqual({ foreign })
})

it('wraps long lines between words, and never inside a command', () => {
  setHintOption('--data-dir', '/tmp/a/directory')
  const text = `${'word '.repeat(14)}and \`quorumscan log repair --cut\` mends it`
  expect(written('stderr', () => printError(text)).split('\n')).toEqual([
    `${'word '.repeat(14)}and`,
    '`quorumscan log repair --cut --data-dir /tmp/a/directory` mends it',
    '',
  ])
  expect(wrap(`    ${'word '.repeat(20)}`)).toEqual([
    `    ${'word '.repeat(15).trim()}`,
    `    ${'word '.repeat(5).trim()}`,
  ])
  expect(wrap('  indented and short')).toEqual(['  indented and short'])
})
