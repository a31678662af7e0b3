/** The script of the page of `hooks.test.ts`: the hooks of the SDK over names in memory. */
import { createMemoryStore, QuorumscanError } from '@quorumscan/sdk'
import { createResolver, scanNames } from '@quorumscan/sdk/naming'
import * as hooks from '@quorumscan/sdk/react'
import { fakeNames, fakeValidator } from '@quorumscan/sdk/testing/fakes'
import { formatInstant } from '@quorumscan/verifier'
import { QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { createElement as h, type ReactElement, useEffect, useState } from 'react'
import { createRoot } from 'react-dom/client'
// @boundaries-ignore The store of the README is tried in a real browser.
import { createIndexedDbStore } from '../../sdk/examples/stores.ts'
// @boundaries-ignore What no entry point exports is tried in a real browser, too.
import { watchName } from '../../sdk/src/names/watch-name.ts'
// @boundaries-ignore What no entry point exports is tried in a real browser, too.
import { systemClock } from '../../sdk/src/platform/clock.ts'
import { stateOf } from './trust-states.ts'

type Shown = {
  /** Makes what is shown of the typed text; may call hooks. */
  use(typed: string): string
  readonly texts: string[]
  type(text: string): void
  remount(): void
}

function Text({ shown, typed }: { readonly shown: Shown; readonly typed: string }): ReactElement {
  const text = shown.use(typed)
  useEffect(() => void shown.texts.push(text), [shown, text])
  return h('p', null, text)
}

function Field({ shown, first }: { readonly shown: Shown; readonly first: string }): ReactElement {
  const [typed, setTyped] = useState(first)
  const [turn, setTurn] = useState(0)
  shown.type = setTyped
  shown.remount = () => setTurn(turn + 1)
  return h(Text, { key: turn, shown, typed })
}

/**
 * Renders a component with one field.
 *
 * @returns `texts`: what it has shown, in order.
 */
function show(use: Shown['use'], first = '') {
  const shown: Shown = { use, texts: [], type: () => {}, remount: () => {} }
  const client = new QueryClient()
  const errors: Error[] = []
  const onUncaughtError = (error: unknown) => errors.push(error as Error)
  const root = createRoot(document.createElement('div'), { onUncaughtError })
  root.render(h(QueryClientProvider, { client }, h(Field, { shown, first })))
  return {
    texts: shown.texts,
    type: (text: string) => shown.type(text),
    remount: () => shown.remount(),
    /** The message of an error that a hook has thrown. */
    async error(): Promise<string | undefined> {
      while (errors.length === 0) await new Promise(requestAnimationFrame)
      return errors[0]?.message
    },
    async until(text: string): Promise<void> {
      while (shown.texts.at(-1) !== text) await new Promise(requestAnimationFrame)
    },
  }
}

type Fakes = ReturnType<typeof fakeNames>

/** A resolver of names in memory, each of whose calls ends soon. */
function resolverOf(names: Fakes) {
  const resolvers = [scanNames({ names }, { id: 'cns' })]
  return createResolver({ network: 'localnet', resolvers, timeoutMs: 100 })
}

/** The same names, of which only the first answer of each kind comes: after that nodes accept requests and never answer. */
function hangingNames(names: Fakes): Fakes {
  const never = () => new Promise<never>(() => {})
  let lookupCount = 0
  let reverseCount = 0
  return {
    ...names,
    watch: (name, options = {}) =>
      watchName(name, {
        ...options,
        clock: systemClock,
        channel: async () => 'hanging',
        lookup: (...asked) => (lookupCount++ === 0 ? names.lookup(...asked) : never()),
      }),
    reverseMany: (...asked) => (reverseCount++ === 0 ? names.reverseMany(...asked) : never()),
  }
}

/** The same names, whose answers are of a state that is older. */
function olderNames(names: Fakes, ageMs: number): Fakes {
  const recordTime = formatInstant(systemClock.nowMicros() - ageMs * 1000)
  const lookup: Fakes['lookup'] = async (...asked) => {
    const outcome = await names.lookup(...asked)
    return outcome.kind === 'failed' ? outcome : { ...outcome, recordTime }
  }
  const watch: Fakes['watch'] = (name, options = {}) =>
    watchName(name, { ...options, clock: systemClock, channel: async () => 'older', lookup })
  return { ...names, lookup, watch }
}

/** Either hook for the field of a recipient, with `alice` in it. */
function useRecipient(
  hook: 'useName' | 'useParty',
  names: Fakes,
  bounds: { readonly pollMs?: number } = {},
) {
  const [resolver] = useState(() => resolverOf(names))
  const ofName = hooks.useName(hook === 'useName' ? 'alice' : '', { names, ...bounds })
  const ofParty = hooks.useParty(hook === 'useParty' ? 'alice' : '', { resolver, ...bounds })
  return hook === 'useName' ? ofName : ofParty
}

/** What the platform reports of the network of the device. */
function setOnline(onLine: boolean): void {
  Object.defineProperty(navigator, 'onLine', { value: onLine, configurable: true })
  dispatchEvent(new Event(onLine ? 'online' : 'offline'))
}

/** Sets the wall clock of the page back. Returns what sets it right. */
function setClockBack(ms: number): () => void {
  const wall = Reflect.get(globalThis, 'Date') as { now(): number }
  const { now } = wall
  wall.now = () => now() - ms
  return () => {
    wall.now = now
  }
}

/** Stops the wall clock of the page. Returns what starts it again. */
function stopClock(): () => void {
  const wall = Reflect.get(globalThis, 'Date') as { now(): number }
  const { now } = wall
  const stoppedAt = now()
  wall.now = () => stoppedAt
  return () => {
    wall.now = now
  }
}

export const kit = {
  ...hooks,
  QuorumscanError,
  createMemoryStore,
  fakeNames,
  fakeValidator,
  hangingNames,
  olderNames,
  setClockBack,
  stopClock,
  setOnline,
  resolverOf,
  useRecipient,
  show,
  stateOf,
  createIndexedDbStore,
}

Object.assign(globalThis, { kit })
