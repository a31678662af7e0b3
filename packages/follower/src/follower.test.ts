import { ScanError } from '@quorumscan/errors'
import { expect, it } from 'vitest'
import { logProblem } from './follower.ts'

it('a replica that diverged is logged as an error that says what it does not do', () => {
  const lines: unknown[] = []
  const line = (level: string) => (_fields: unknown, text?: string) => lines.push([level, text])
  const logger = { warn: line('warn'), error: line('error') }
  logProblem(logger, new Error('the log cannot be reached'))
  logProblem(logger, new ScanError('STATE_DIVERGED', 'The entries differ.'))
  expect(lines).toEqual([
    ['warn', 'the replica cannot apply the log now'],
    ['error', expect.stringMatching(/^the stored state differs .* answers no lookups until .*/)],
  ])
})
