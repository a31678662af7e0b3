/** Outcomes of submissions whose answers are lost, with a scripted ledger interface. */
import { expect, it, vi } from 'vitest'
import { type ErrorCode, QuorumscanError } from '../errors.ts'
import type { Http } from '../http/http.ts'
import type { HttpRequest } from '../http/http-request.ts'
import { type Clock, systemClock } from '../platform/clock.ts'
import { createCommands } from './commands.ts'

const ALICE = `alice::1220${'a'.repeat(64)}`
const SUBMISSION = { commandId: 'c-1', actAs: [ALICE], commands: [] }
const done = { updateId: 'u-7', completionOffset: 7 }

const error = (
  code: ErrorCode,
  facts: {
    definite: boolean
    retryable?: boolean
    status?: number
    details?: Record<string, unknown>
  },
) => new QuorumscanError(code, { code, retryable: true, ...facts })
const lost = () => error('NETWORK_ERROR', { definite: false })

const transaction = (offset: number, commandId: string) => ({
  update: {
    Transaction: {
      value: {
        updateId: `u-${offset}`,
        commandId,
        workflowId: '',
        effectiveAt: '',
        events: [],
        offset,
        synchronizerId: 's',
        traceContext: null,
        recordTime: '',
        externalTransactionHash: null,
        paidTrafficCost: null,
      },
    },
  },
})

/** `answers`: to each submission in turn, the last one for ever; `seen`: what the ledger shows. */
function world(answers: readonly (object | QuorumscanError)[], seen: readonly object[] = []) {
  const submitted: HttpRequest[] = []
  let nowMs = 0
  const clock: Clock = {
    ...systemClock,
    monotonicMs: () => nowMs,
    delay: async (ms, signal) => {
      signal?.throwIfAborted()
      nowMs += ms
    },
  }
  const answer = (request: HttpRequest): unknown => {
    if (request.path === '/v2/state/ledger-end') return { offset: submitted.length === 0 ? 5 : 9 }
    if (request.path === '/v2/updates') return seen
    const next = answers[Math.min(submitted.length, answers.length - 1)]
    submitted.push(request)
    if (next instanceof QuorumscanError) throw next
    return next
  }
  const http: Http = {
    timeLeft: () => () => 10_000,
    offset: () => 7,
    send: async () => ({ status: 200, text: '', header: () => null }),
    token: async () => null,
    async call(request, isValid) {
      const body = answer(request)
      if (!isValid(body)) throw new Error(`not valid: ${request.path}`)
      return body
    },
  }
  const { submit } = createCommands({ http, clock, url: 'https://ledger.test' })
  return { submit, submitted }
}

it('a submission takes effect at the offset of its answer', async () => {
  const { submit, submitted } = world([done])
  expect(await submit(SUBMISSION)).toEqual({
    kind: 'committed',
    commandId: 'c-1',
    offset: 7,
    updateId: 'u-7',
    wasDuplicate: false,
  })
  expect(submitted[0]).toMatchObject({ method: 'POST', path: '/v2/commands/submit-and-wait' })
})

it('a submission with a lost answer is repeated: same command id, new submission id', async () => {
  const { submit, submitted } = world([lost(), done])
  expect(await submit(SUBMISSION)).toMatchObject({ kind: 'committed', wasDuplicate: false })
  const bodies = submitted.map(({ body }) => body as { commandId: string; submissionId: string })
  expect(bodies.map(({ commandId }) => commandId)).toEqual(['c-1', 'c-1'])
  expect(new Set(bodies.map(({ submissionId }) => submissionId)).size).toBe(2)
})

it('a submission that took effect without an answer is found, and is no duplicate', async () => {
  const seen = [transaction(6, 'another'), transaction(8, 'c-1')]
  const { submit, submitted } = world([lost()], seen)
  expect(await submit(SUBMISSION)).toMatchObject({
    kind: 'committed',
    offset: 8,
    updateId: 'u-8',
    wasDuplicate: false,
  })
  expect(submitted.length).toBe(1)
})

it('a submission that took effect before is a duplicate, with its offset', async () => {
  const before = error('DUPLICATE_COMMAND', {
    definite: true,
    retryable: false,
    details: { completionOffset: '4' },
  })
  const { submit } = world([before], [transaction(4, 'c-1')])
  expect(await submit(SUBMISSION)).toMatchObject({
    kind: 'committed',
    offset: 4,
    updateId: 'u-4',
    wasDuplicate: true,
  })
})

it('a submission is no duplicate for the caller if it repeats its own lost attempt', async () => {
  const itself = error('DUPLICATE_COMMAND', {
    definite: true,
    retryable: false,
    details: { completionOffset: '8' },
  })
  const { submit } = world([lost(), itself])
  expect(await submit(SUBMISSION)).toMatchObject({ offset: 8, updateId: null, wasDuplicate: false })
})

it('a submission that is refused has no effect', async () => {
  const refused = error('CONTRACT_NOT_FOUND', { definite: true, retryable: false, status: 404 })
  const { submit, submitted } = world([refused])
  expect(await submit(SUBMISSION)).toEqual({ kind: 'rejected', commandId: 'c-1', error: refused })
  expect(submitted.length).toBe(1)
})

it.each([401, 403, 429, 503, undefined])(
  'a refusal with status %s, which is not of the ledger, says nothing of earlier calls with the id',
  async (status) => {
    const refused = error('UNAUTHENTICATED', { definite: true, ...(status && { status }) })
    expect(await world([refused]).submit(SUBMISSION)).toMatchObject({
      kind: 'unknown',
      error: { definite: false },
    })
    const { commandId: _, ...isNew } = SUBMISSION
    expect(await world([refused]).submit(isNew)).toMatchObject({ kind: 'rejected' })
  },
)

it('a submission of which the effect is not known is unknown: no error, no success', async () => {
  const { submit, submitted } = world([lost()])
  expect(await submit(SUBMISSION, { timeoutMs: 3000 })).toMatchObject({
    kind: 'unknown',
    commandId: 'c-1',
    error: { code: 'NETWORK_ERROR', definite: false },
  })
  expect(submitted.length).toBeGreaterThan(2)
})

it('a submission refused after a lost answer is unknown: it may have taken effect', async () => {
  const refused = error('CONTRACT_NOT_FOUND', { definite: true, retryable: false })
  const { submit } = world([lost(), refused])
  expect(await submit(SUBMISSION, { timeoutMs: 3000 })).toMatchObject({
    kind: 'unknown',
    error: { code: 'NETWORK_ERROR' },
  })
})

it('a submission that another device has in progress is waited for', async () => {
  const inFlight = error('SUBMISSION_ALREADY_IN_FLIGHT', { definite: true })
  const { submit } = world([inFlight, inFlight, done])
  expect(await submit(SUBMISSION)).toMatchObject({ kind: 'committed', offset: 7 })
})

it('a submission rejects with the reason of its aborted signal', async () => {
  const { submit } = world([lost()])
  const abort = new AbortController()
  abort.abort(new Error('gone'))
  await expect(submit(SUBMISSION, { signal: abort.signal })).rejects.toThrow(/^gone$/)
})

it('a submission of an offline device is not sent, and fails at once', async () => {
  vi.stubGlobal('navigator', { onLine: false })
  const { submit, submitted } = world([done])
  const error = { code: 'OFFLINE', retryable: true }
  expect(await submit(SUBMISSION)).toMatchObject({
    kind: 'unknown',
    error: { ...error, definite: false },
  })
  const { commandId: _, ...isNew } = SUBMISSION
  expect(await submit(isNew)).toMatchObject({
    kind: 'rejected',
    error: { ...error, definite: true },
  })
  vi.unstubAllGlobals()
  expect(submitted).toEqual([])
})

it('a submission without a command id gets a new one', async () => {
  const { submit } = world([done])
  const [first, second] = [
    await submit({ actAs: [ALICE], commands: [] }),
    await submit({ actAs: [ALICE], commands: [] }),
  ]
  expect(first.commandId).not.toBe(second.commandId)
})

it('commands with a `submissionId` are submitted with another one', async () => {
  const { submit, submitted } = world([done])
  const made = await submit({ ...SUBMISSION, submissionId: 's' })
  expect(made.kind).toBe('committed')
  expect(submitted[0]?.body).not.toMatchObject({ submissionId: 's' })
})
