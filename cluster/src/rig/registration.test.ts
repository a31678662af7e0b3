/** A registration against a validator that is not always ready. */
import { createManualClock, serve } from '@quorumscan/testkit'
import { expect, it } from 'vitest'
import { registerName } from './registration.ts'

type Answer = readonly [status: number, body: object]

const ANSWERS: readonly (readonly [path: RegExp, body: object])[] = [
  [/register$/, { party_id: 'alice::12' }],
  [/tap$/, {}],
  [/create$/, { subscriptionRequestCid: 'request' }],
  [/accept$/, {}],
  [/by-name/, { entry: {} }],
]
const late = { error: 'not yet', code: 'OFFSET_NOT_REACHED', retryable: true }

/** Registers; each path returns its listed answers first, then success. Returns the requested paths, shortened. */
async function register(first: Readonly<Record<string, readonly Answer[]>>, retryForMs = 1000) {
  const left = new Map(Object.entries(first).map(([path, answers]) => [path, [...answers]]))
  const asked: string[] = []
  await using server = await serve((request, response) => {
    const [path, well] = ANSWERS.find(([one]) => one.test(request.url ?? '')) ?? [/^$/, {}]
    const name = path.source.replace('$', '')
    asked.push(name)
    const [status, body] = left.get(name)?.shift() ?? [200, well]
    request.resume().on('end', () => response.writeHead(status).end(JSON.stringify(body)))
  })
  const clock = createManualClock()
  const delay = async (ms: number) => void clock.advance(ms)
  try {
    await registerName({
      validatorUrl: server.url,
      token: 'token',
      name: 'alice.unverified.ns',
      description: '',
      retryForMs,
      clock: { ...clock, delay },
      onStep: () => {},
    })
    return asked
  } catch (error) {
    return [...asked, String(error)]
  }
}

it('repeats requests that had no effect and may succeed later', async () => {
  const definite = { ...late, definite: true }
  expect(
    await register({
      tap: [[503, definite]],
      'by-name': [
        [503, late],
        [404, { code: 'ENTRY_NOT_FOUND' }],
        [503, definite],
      ],
    }),
  ).toEqual(['register', 'tap', 'tap', 'create', 'accept', ...Array(4).fill('by-name')])
})

it('does not repeat a request that may have had an effect, or that is refused permanently', async () => {
  expect((await register({ accept: [[504, { ...late, definite: false }]] })).at(-1)).toContain(
    'accept: 504, not yet',
  )
  const refused = await register({ create: [[409, { error: 'taken', retryable: false }]] })
  expect(refused).toEqual(['register', 'tap', 'create', expect.stringContaining('409, taken')])
})

it('gives up with the last answer after its time limit, or at once without one', async () => {
  const busy: readonly Answer[] = Array(1000).fill([503, { ...late, definite: true }])
  expect((await register({ register: busy })).at(-1)).toContain('503, not yet')
  expect(await register({ register: busy }, 0)).toEqual(['register', expect.any(String)])
  const absent: readonly Answer[] = Array(1000).fill([404, { code: 'ENTRY_NOT_FOUND' }])
  expect((await register({ 'by-name': absent })).at(-1)).toContain('confirm alice.unverified.ns')
})
