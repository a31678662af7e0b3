/**
 * `expect(answer).toAnswer(404, 'ENTRY_NOT_FOUND')`: for another status or code, the failure shows the body of the
 * answer. `test/support/matchers.ts` registers the matcher before each file of tests.
 */
import { membersOf } from '@quorumscan/verifier'
import type {} from 'vitest'

declare module 'vitest' {
  // biome-ignore lint/suspicious/noExplicitAny: the declaration must equal vitest's own.
  interface Matchers<T = any> {
    /**
     * Expects the status of an answer and, if `code` is given, the code in its body. Await it for a `Response`, because
     * it reads the body to show an unexpected answer.
     */
    toAnswer(status: number, code?: string): T extends Response ? Promise<void> : void
  }
}

type Result = { readonly pass: boolean; readonly message: () => string }

/** Characters of a body that are shown. */
const BODY_LENGTH_MAX = 2000

export function toAnswer(
  received: unknown,
  status: number,
  code?: string,
): Result | Promise<Result> {
  if (received instanceof Response) return ofResponse(received, status, code)
  if (typeof received !== 'object' || received === null || !('status' in received))
    return {
      pass: false,
      message: () => `expected an answer with status ${status}, received ${String(received)}`,
    }
  const { body } = received as { body?: unknown }
  const text = body instanceof Uint8Array ? new TextDecoder().decode(body) : body
  const seen = typeof text === 'string' ? parsed(text) : text
  return judge({ ...received, status: received.status, body: seen }, status, code)
}

/** Decides synchronously if it needs no body: an unawaited failure is an unhandled rejection, which ends the run. */
function ofResponse(response: Response, status: number, code?: string): Result | Promise<Result> {
  const bare = { status: response.status, body: undefined }
  const isEnough = code === undefined && response.status === status
  if (isEnough || response.bodyUsed) return judge(bare, status, code)
  const body = response.clone().text()
  return body.then((text) => judge({ ...bare, body: parsed(text) }, status, code))
}

function judge(
  answer: { readonly status: unknown; readonly code?: unknown; readonly body: unknown },
  status: number,
  code: string | undefined,
): Result {
  const seenCode = codeOf(answer.body) ?? codeOf(answer)
  const pass = answer.status === status && (code === undefined || seenCode === code)
  const received = [answer.status, seenCode].filter((each) => each !== undefined).join(' ')
  const expected = [status, code].filter((each) => each !== undefined).join(' ')
  return {
    pass,
    message: () =>
      `expected ${pass ? 'another answer than' : 'the answer'} ${expected}, received ${received}${shown(answer.body)}`,
  }
}

function codeOf(value: unknown): string | undefined {
  const { code } = membersOf(value) as { code?: unknown }
  return typeof code === 'string' ? code : undefined
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

function shown(body: unknown): string {
  if (body === undefined) return ''
  const text = typeof body === 'string' ? body : JSON.stringify(body, null, 1)
  return `: ${text.length > BODY_LENGTH_MAX ? `${text.slice(0, BODY_LENGTH_MAX)}…` : text}`
}
