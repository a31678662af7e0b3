import { readFileSync } from 'node:fs'
import { CommandError, messageOf, NoReplyError, UsageError } from '@quorumscan/runtime'
import { CommanderError } from 'commander'
import { expect, it } from 'vitest'
import { z } from 'zod'
import { exitCodeOf } from './exit-codes.ts'

function thrownBy(work: () => unknown): unknown {
  try {
    work()
  } catch (error) {
    return error
  }
  throw new Error('nothing was thrown')
}

it('gives a failure, an invalid command line and a missing reply different exit statuses', () => {
  const errors = [
    new Error('a bug'),
    new CommandError('no'),
    new UsageError('?'),
    new NoReplyError(),
  ]
  expect(errors.map(exitCodeOf)).toEqual([1, 1, 2, 4])
  expect(exitCodeOf(new CommanderError(0, 'commander.help', 'help'))).toBe(0)
  expect(exitCodeOf(new CommanderError(1, 'commander.unknownCommand', 'what?'))).toBe(2)
})

it('prints any thrown value as one line, without a stack trace or the invalid input', () => {
  const schema = z.strictObject({ to: z.number().max(5), kind: z.enum(['a', 'b']) })
  const lines = [
    new Error('it broke\n    at somewhere (/src/file.ts:1:1)'),
    thrownBy(() => schema.parse({ to: 'x', kind: 'a' })),
    thrownBy(() => schema.parse({ to: 9, kind: 'c' })),
    thrownBy(() => schema.parse({ to: 1, kind: 'a', more: 1 })),
    thrownBy(() => readFileSync('/nowhere/file.json')),
    'thrown as a text',
  ].map(messageOf)
  expect(lines).toEqual([
    'it broke',
    'to: Invalid input: expected number, received string',
    'to: Too big: expected number to be <=5; kind: Invalid option: expected one of "a"|"b"',
    'Unrecognized key: "more"',
    '/nowhere/file.json does not exist',
    'thrown as a text',
  ])
})
