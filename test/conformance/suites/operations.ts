/** The success of every operation, and each error that it declares. */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { ErrorAnswer, type RouteDef, socketRoutes } from '@quorumscan/api'
import { catalogue, type ErrorCode } from '@quorumscan/errors'
import type { TSchema } from 'typebox'
import { Value } from 'typebox/value'
import { describe, type ExpectStatic } from 'vitest'
import { added, addedCodes, addedStatuses } from '../../support/routes/added.ts'
import { isReachable, type Unreachable } from '../../support/routes/case.ts'
import { type Answer, sendCase } from '../../support/routes/send-case.ts'
import { firstFrame } from '../../support/routes/sockets.ts'
import { type RouteCase, routeCases, socketCases } from '../../support/routes.ts'
import { it } from '../network.ts'

const ROOT = join(import.meta.dirname, '../../..')
const LedgerError = socketRoutes.streamUpdates.error

/** Differences between a body and its schema: missing, invalid and unknown members. Null if there is no difference. */
function differences(schema: TSchema, body: unknown): unknown {
  if (!Value.Check(schema, body)) return Value.Errors(schema, body)
  const cleaned = Value.Clean(schema, structuredClone(body))
  return JSON.stringify(cleaned) === JSON.stringify(body) ? null : { unknownMembersIn: body }
}

function expectBody(expect: ExpectStatic, answer: Answer, response: RouteDef['response']): void {
  if (response === null) expect.soft(answer.text).toBe('')
  else if (response !== 'bytes') expect.soft(differences(response, answer.body)).toBe(null)
  else {
    expect.soft(answer.type).toBe('application/octet-stream')
    expect.soft(answer.text).not.toBe('')
  }
}

/** The schema of the answer's media type: some routes have several. */
const responseOf = ({ response, otherForms }: RouteDef, { type }: Answer) =>
  otherForms?.[type] ?? response

type Expected = { readonly title: string; readonly cause: RouteCase['of']['success'] }

/** Expects a reason why a case has no request and, if it names a test, that the test contains the code. */
async function expectTested(
  expect: ExpectStatic,
  code: string,
  { unreachable, testedBy }: Unreachable,
): Promise<void> {
  expect.soft(unreachable).not.toBe('')
  if (testedBy !== undefined)
    expect.soft(await readFile(join(ROOT, testedBy), 'utf8'), testedBy).toContain(code)
}

export function describeOperations(): void {
  describe.each(['scan', 'synchronizer', 'validator', 'ledger'] as const)(
    'of the %s',
    (surface) => {
      const ofSurface = routeCases.filter((one) => one.surface === surface)

      it.concurrent.for(ofSurface.map((one) => [one.route.operationId, one] as const))(
        '%s succeeds, and returns each declared error',
        async ([, { route, of }], { expect, world }) => {
          if (isReachable(of.success)) {
            const answer = await sendCase(world, { ...(await of.success(world)), surface, route })
            expect.soft(answer).toAnswer(200)
            expectBody(expect, answer, responseOf(route as RouteDef, answer))
          }
          const isLedger = surface === 'ledger'
          const declared: readonly (string | number)[] = isLedger
            ? ((route as { errorStatuses?: readonly number[] }).errorStatuses ?? [])
            : (route as RouteDef).errors
          expect.soft(Object.keys(of.errors).sort()).toEqual(declared.map(String).sort())
          const expected: Expected[] = Object.entries(of.errors).map(([title, cause]) => ({
            title,
            cause,
          }))
          for (const title of isLedger ? addedStatuses(route) : addedCodes(route as RouteDef))
            expected.push({ title, cause: of.added?.[title] ?? added(title, { route, of }) })
          for (const { title, cause } of expected) {
            if (!isReachable(cause)) {
              if (!isLedger) await expectTested(expect, title, cause)
              continue
            }
            const answer = await sendCase(world, { ...(await cause(world)), surface, route })
            if (isLedger) expect.soft(answer, title).toAnswer(Number(title))
            else
              expect.soft(answer, title).toAnswer(catalogue[title as ErrorCode].httpStatus, title)
            // The error of a body that does not decode is text (docs/upstream.md §L1.1).
            if (isLedger && answer.type === 'text/plain') expect.soft(answer).toAnswer(400)
            else
              expect.soft(differences(isLedger ? LedgerError : ErrorAnswer, answer.body)).toBe(null)
          }
        },
      )
    },
  )

  it.concurrent.for(Object.entries(socketCases))(
    'the WebSocket %s answers a valid first frame, and refuses an invalid one',
    async ([id, { success, error }], { expect, world }) => {
      const socket = socketRoutes[id as keyof typeof socketRoutes]
      const element = await firstFrame(world, socket.path, await success(world))
      expect.soft(differences(socket.element, element)).toBe(null)
      const refusal = await firstFrame(world, socket.path, await error(world))
      expect.soft(differences(socket.error, refusal)).toBe(null)
    },
  )
}
