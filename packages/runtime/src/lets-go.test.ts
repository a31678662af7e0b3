/** Work that is done leaves no listener at a signal that stays, such as that of a process. */
import { getEventListeners } from 'node:events'
import { withTimeout } from '@quorumscan/base'
import { createManualClock } from '@quorumscan/testkit'
import { callsAt } from '@quorumscan/verifier/testing/calls-at'
import { expect, it } from 'vitest'
import { ask } from './ask.ts'
import { askInTurn } from './ask-in-turn.ts'
import { createPenalties } from './penalties.ts'
import { repeat } from './repeat.ts'

const clock = createManualClock()

const done: Readonly<Record<string, (signal: AbortSignal) => Promise<unknown>>> = {
  withTimeout: (signal) => withTimeout({ clock, timeoutMs: 1_000, signal }, async () => 1, Object),
  'withTimeout that throws': (signal) =>
    withTimeout({ clock, timeoutMs: 1_000, signal }, () => Promise.reject(new Error('x')), Object),
  ask: (signal) => {
    const fetch = async () => new Response('{}')
    return ask('http://127.0.0.1:1', { timeoutMs: 1_000, signal, fetch })
  },
  'ask without an answer': (signal) => {
    const fetch = () => Promise.reject(new Error('x'))
    return ask('http://127.0.0.1:1', { timeoutMs: 1_000, signal, fetch })
  },
  askInTurn: (signal) =>
    askInTurn({
      sources: [{}, {}, {}],
      penalties: createPenalties(clock),
      clock,
      signal,
      ask: async () => ({ kind: 'proven', answer: 1 }),
    }),
  'a repetition that is disposed of': async (signal) => {
    const repetition = repeat(() => {}, { clock, everyMs: 1_000, signal })
    await repetition[Symbol.asyncDispose]()
  },
  'a repetition that a defect ends': (signal) =>
    repeat(() => Promise.reject(new Error('x')), { clock, everyMs: 1_000, signal }).ended,
}

it.each(Object.entries(done))('%s', async (_, work) => {
  const stays = new AbortController()
  for (let count = 0; count < 3; count++) await work(stays.signal).catch(() => {})
  expect(callsAt(stays.signal)).toBe(0)
  // The one that all calls share.
  expect(getEventListeners(stays.signal, 'abort').length).toBeLessThanOrEqual(1)
})
