import { callsAt } from '@quorumscan/verifier/testing/calls-at'
import { expect, it } from 'vitest'
import { createLongPolls } from './long-polls.ts'

const NEVER = new AbortController().signal

/** A poll of this client, which waits until it is aborted, and what became of it. */
function begin(polls: ReturnType<typeof createLongPolls>, address: string, signal = NEVER) {
  const poll = { outcome: 'waits' }
  const end = (outcome: string) => {
    poll.outcome = outcome
  }
  polls
    .hold(
      {
        client: { key: address, network: address, address, isPeer: false },
        signal,
        waiting: (wait) => wait(),
      },
      (waiting) =>
        new Promise((_, reject) => {
          waiting.signal.addEventListener('abort', () => reject(waiting.signal.reason))
        }),
    )
    .then(
      (given) => end(given === null ? 'ended' : 'news'),
      () => end('client left'),
    )
  return poll
}

const turn = () => new Promise((resolve) => setImmediate(resolve))
const outcomes = (some: readonly { readonly outcome: string }[]) => some.map((one) => one.outcome)

it('the oldest poll of an address makes room for its 65th, and no other', async () => {
  const polls = createLongPolls()
  const other = begin(polls, '192.0.2.2')
  const own = Array.from({ length: 65 }, () => begin(polls, '192.0.2.1'))
  await turn()
  expect(outcomes(own)).toEqual(['ended', ...Array(64).fill('waits')])
  expect(other.outcome).toBe('waits')
})

it('without room, the oldest poll of the address with most polls ends', async () => {
  const polls = createLongPolls()
  const few = begin(polls, '192.0.2.99')
  const many = Array.from({ length: 16 }, (_, address) =>
    Array.from({ length: address === 7 ? 64 : 63 }, () => begin(polls, `192.0.2.${address}`)),
  )
  const rest = Array.from({ length: 14 }, (_, index) => begin(polls, `198.51.100.${index}`))
  const next = begin(polls, '203.0.113.1')
  await turn()
  expect(many.flat().filter(({ outcome }) => outcome !== 'waits')).toEqual([many[7]?.[0]])
  expect(outcomes([few, next, ...rest])).toEqual(Array(16).fill('waits'))
})

it('the networks of IPv6 have 128, of any of their addresses', async () => {
  const polls = createLongPolls()
  const own = Array.from({ length: 129 }, (_, subnet) => begin(polls, `2001:db8:0:${subnet}::1`))
  const other = begin(polls, '2001:db8:1:1::1')
  await turn()
  expect(outcomes(own)).toEqual(['ended', ...Array(128).fill('waits')])
  expect(other.outcome).toBe('waits')
})

it('a greedy address ends its own polls, and none of ten modest ones', async () => {
  const polls = createLongPolls()
  const modest = Array.from({ length: 10 }, (_, index) => begin(polls, `198.51.100.${index}`))
  const greedy = Array.from({ length: 2000 }, () => begin(polls, '192.0.2.1'))
  const late = begin(polls, '203.0.113.1')
  await turn()
  expect(outcomes([...modest, late])).toEqual(Array(11).fill('waits'))
  expect(greedy.filter(({ outcome }) => outcome === 'waits')).toHaveLength(64)
})

it('the poll of a client that left makes room, and fails', async () => {
  const polls = createLongPolls()
  const leaving = new AbortController()
  const left = begin(polls, '192.0.2.1', leaving.signal)
  leaving.abort()
  await turn()
  expect(left.outcome).toBe('client left')
  const own = Array.from({ length: 64 }, () => begin(polls, '192.0.2.1'))
  await turn()
  expect(outcomes(own)).toEqual(Array(64).fill('waits'))
})

it('a process that stops ends all', async () => {
  const polls = createLongPolls()
  const some = ['192.0.2.1', '192.0.2.2'].map((address) => begin(polls, address))
  polls.endAll()
  await turn()
  expect(outcomes(some)).toEqual(['ended', 'ended'])
})

it('a poll that is answered leaves nothing at the signal of its request', async () => {
  const polls = createLongPolls()
  const { signal } = new AbortController()
  const client = { key: 'a', network: 'a', address: '192.0.2.1', isPeer: false }
  const news = () => polls.hold({ client, signal, waiting: (wait) => wait() }, async () => 7)
  expect(await news()).toBe(7)
  expect(callsAt(signal)).toBe(0)
})
