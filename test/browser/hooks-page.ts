/** The script of the page of `hooks.test.ts`: the hooks of the SDK over names in memory. */
import { QuorumscanError } from '@quorumscan/sdk'
import { createResolver, scanNames } from '@quorumscan/sdk/naming'
import * as hooks from '@quorumscan/sdk/react'
import { fakeNames } from '@quorumscan/sdk/testing/fakes'
import { QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { createElement as h, type ReactElement, useEffect, useState } from 'react'
import { createRoot } from 'react-dom/client'

/**
 * A component with one field.
 *
 * @param use - Makes what it shows of the typed text; may call hooks.
 */
function show(use: (typed: string) => string, typed = '') {
  /** What it has shown, in order. */
  const texts: string[] = []
  let setTyped = (_: string): void => {}
  let setTurn = (_: (turn: number) => number): void => {}
  const Shown = (props: { readonly typed: string }): ReactElement => {
    const text = use(props.typed)
    useEffect(() => void texts.push(text), [text])
    return h('p', null, text)
  }
  const Field = (): ReactElement => {
    const [text, setText] = useState(typed)
    const [turn, nextTurn] = useState(0)
    setTyped = setText
    setTurn = nextTurn
    return h(Shown, { key: turn, typed: text })
  }
  const client = new QueryClient()
  const errors: string[] = []
  const onUncaughtError = (error: unknown) => errors.push((error as Error).message)
  const root = createRoot(document.createElement('div'), { onUncaughtError })
  root.render(h(QueryClientProvider, { client }, h(Field)))
  return {
    texts,
    errors,
    client,
    type: (text: string) => setTyped(text),
    remount: () => setTurn((turn) => turn + 1),
    async until(text: string): Promise<void> {
      while (texts.at(-1) !== text) await new Promise(requestAnimationFrame)
    },
  }
}

/** A resolver of names in memory, each of whose calls ends soon. */
function resolverOf(names: ReturnType<typeof fakeNames>) {
  const resolvers = [scanNames({ names }, { id: 'cns' })]
  return createResolver({ network: 'localnet', resolvers, timeoutMs: 100 })
}

export const kit = { ...hooks, QuorumscanError, fakeNames, resolverOf, show }

Object.assign(globalThis, { kit })
