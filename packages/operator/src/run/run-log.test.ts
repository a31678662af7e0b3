import { EnvError } from '@quorumscan/base'
import { CommandError, createLogger, UsageError } from '@quorumscan/runtime'
import { expect, it } from 'vitest'
import { createRunLog } from './run-log.ts'

function setUp(level = 'debug') {
  const lines: string[] = []
  const log = createRunLog({ name: 'sv-1', level, write: (line) => lines.push(line) })
  /** All lines, each of which must be of the one format. */
  const read = () =>
    lines.splice(0).map((line) => {
      expect(line.endsWith('\n')).toBe(true)
      const { level, time, name, msg } = JSON.parse(line)
      expect(time).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
      return [level, name, msg]
    })
  return { ...log, read }
}

const REDIS = [
  ['442:C 29 Nov 2026 11:35:17.628 # oO0OoO0OoO0Oo Redis is starting oO0OoO0OoO0Oo', 'info'],
  ['442:C 29 Nov 2026 11:35:17.628 # Redis version=7.0.15, bits=64, pid=442, just started', 'info'],
  ['442:M 29 Nov 2026 11:35:17.638 # Server initialized', 'info'],
  ['442:M 29 Nov 2026 11:35:17.638 # WARNING Memory overcommit must be enabled!', 'warn'],
  ['442:M 29 Nov 2026 11:35:17.665 * Ready to accept connections', 'info'],
  ['442:M 29 Nov 2026 11:35:17.665 # Bad file format reading the append only file', 'warn'],
  ['442:M 29 Nov 2026 11:36:57.311 # User requested shutdown...', 'info'],
  ['442:M 29 Nov 2026 11:36:57.313 # Redis is now ready to exit, bye bye...', 'info'],
  ['442:signal-handler (1795952217) Received SIGTERM scheduling shutdown...', 'debug'],
  ['398:signal-handler (1795952234398:signal-handler (1795952234) Received SIGTERM …', 'debug'],
  [') Received SIGTERM scheduling shutdown...', 'debug'],
] as const

it('prints what Redis writes as lines of the one format', () => {
  const log = setUp()
  for (const [line] of REDIS) log.pass('sv-1.redis', line, 'stdout')
  expect(log.read().map(([level, name]) => [level, name])).toEqual(
    REDIS.map(([, level]) => [level, 'sv-1.redis']),
  )
  log.pass('sv-1.redis', REDIS[4][0], 'stdout')
  expect(log.read()).toEqual([['info', 'sv-1.redis', 'Ready to accept connections']])
})

it('passes lines of a log on as they are, and wraps all others', () => {
  const log = setUp()
  const lines: string[] = []
  const stream = { write: (line: string) => lines.push(line) }
  createLogger({ name: 'sv-1', level: 'info', stream }).warn({ offset: 7 }, 'late')
  const [line = ''] = lines
  log.pass('sv-1', line.trimEnd(), 'stdout')
  log.pass('sv-1', '', 'stdout')
  for (const text of [
    'QS_PORT is odd',
    '    at main (file:///a.js:1:1)',
    '{half',
    '{"a":1}',
    'null',
  ])
    log.pass('sv-1', text, 'stderr')
  log.pass('sv-1', '(node:7) ExperimentalWarning: x', 'stderr')
  log.pass('sv-1', 'a text', 'stdout')
  log.report('sv-1 is ready')
  log.report('sv-1 exited unexpectedly', 'warn')
  expect(log.read()).toEqual([
    ['warn', 'sv-1', 'late'],
    ['error', 'sv-1', 'QS_PORT is odd'],
    ['error', 'sv-1', '    at main (file:///a.js:1:1)'],
    ['error', 'sv-1', '{half'],
    ['error', 'sv-1', '{"a":1}'],
    ['error', 'sv-1', 'null'],
    ['warn', 'sv-1', '(node:7) ExperimentalWarning: x'],
    ['info', 'sv-1', 'a text'],
    ['info', 'sv-1.run', 'sv-1 is ready'],
    ['warn', 'sv-1.run', 'sv-1 exited unexpectedly'],
  ])
})

it('leaves lines of Redis below the level out, and none of its own', () => {
  const log = setUp('warn')
  for (const [line] of REDIS) log.pass('sv-1.redis', line, 'stdout')
  log.report('sv-1 is ready')
  expect(log.read().map(([level]) => level)).toEqual(['warn', 'warn', 'info'])
})

it('of what ends it, a defect has its stack trace, and a sentence for an operator none', () => {
  const lines: string[] = []
  const log = createRunLog({ name: 'sv-1', level: 'info', write: (line) => lines.push(line) })
  for (const error of [new CommandError('one'), new UsageError('two'), new EnvError('three\nfour')])
    log.reportEnd(error)
  log.reportEnd(new TypeError('x is undefined\nmore'))
  const read = lines.map((line) => JSON.parse(line))
  expect(read.map(({ level, msg }) => `${level} ${msg}`)).toEqual([
    'error one',
    'error two',
    'error three',
    'error x is undefined',
  ])
  expect(read.map(({ err }) => err?.stack ?? null)).toEqual([
    null,
    null,
    null,
    expect.stringContaining('run-log.test.ts'),
  ])
})
