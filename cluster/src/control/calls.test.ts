import { CommandError, NoReplyError, UsageError } from '@quorumscan/runtime'
import { TRPCError } from '@trpc/server'
import { expect, it } from 'vitest'
import { z } from 'zod'
import { nodeName } from '../faults/fault-spec.ts'
import { callerOf, toClientError, truncatedInput } from './calls.ts'

const received = (cause: Error) => {
  const { code, message } = toClientError(new TRPCError({ code: 'INTERNAL_SERVER_ERROR', cause }))
  return { code, message }
}

it('distinguishes by codes invalid calls, missing answers and other failures', () => {
  expect(received(new UsageError('no such node'))).toEqual({
    code: 'BAD_REQUEST',
    message: 'no such node',
  })
  expect(received(new NoReplyError('no answer'))).toEqual({ code: 'TIMEOUT', message: 'no answer' })
  expect(received(new CommandError('it is down'))).toEqual({
    code: 'CONFLICT',
    message: 'it is down',
  })
})

it('has a sentence for an invalid input, and a line for a defect', () => {
  const { error } = z.object({ node: nodeName }).safeParse({ node: 'SV 1' })
  expect(received(error as Error)).toEqual({
    code: 'BAD_REQUEST',
    message: 'node: must be a name such as sv-1',
  })
  expect(received(new TypeError('x is undefined\n    at y'))).toEqual({
    code: 'INTERNAL_SERVER_ERROR',
    message: 'x is undefined',
  })
})

it('names a caller by its header, a page as the console, and cuts the input to a line', () => {
  expect(callerOf({ 'x-quorumscan-caller': 'process 7 of me\u001b[2J' })).toBe(
    'process 7 of me\\u{1b}[2J',
  )
  expect(callerOf({ 'x-quorumscan-caller': 'x'.repeat(101) })).toBe('unknown')
  expect(callerOf({ origin: 'http://127.0.0.1:4600' })).toBe('console')
  expect(truncatedInput('x'.repeat(9999)).length).toBe(1000)
})
