/** The script of the page of the browser tests: the SDK as a web wallet bundles it. */
import {
  createLocalStorageStore,
  createScan,
  createValidator,
  type LookupOutcome,
  type Names,
  type OwnNames,
  parseParty,
  type Scan,
} from '@quorumscan/sdk'
import { createResolver, type Resolver, scanNames } from '@quorumscan/sdk/naming'
import {
  NamesProvider,
  useName,
  useRegister,
  useRenew,
  useReverse,
  useSearch,
} from '@quorumscan/sdk/react'
import { verifyReceipt } from '@quorumscan/sdk/receipts'
import type { Genesis } from '@quorumscan/verifier'
import { QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { createElement as h, type ReactElement, type ReactNode, useEffect, useState } from 'react'
import { createRoot } from 'react-dom/client'
// @boundaries-ignore What no entry point exports is tried in a real browser, too.
import { createSeenNames } from '../../sdk/src/names/seen-names.ts'
// @boundaries-ignore What no entry point exports is tried in a real browser, too.
import { systemClock } from '../../sdk/src/platform/clock.ts'
// @boundaries-ignore What no entry point exports is tried in a real browser, too.
import { createSharedStore } from '../../sdk/src/platform/shared-store.ts'
import { type FixedAnswer, payees, reverses, stateOf, whileOnline } from './trust-states.ts'

let scan: Scan
type Shown = ReturnType<typeof useRegister> | ReturnType<typeof useRenew>

function Payee({ name, party }: { readonly name: string; readonly party: string }): ReactElement {
  const payee = useName(name)
  const back = useReverse(party)
  return h(
    'p',
    { id: 'payee' },
    `${stateOf(payee.shown)} ${payee.party} ${stateOf(back.shown)} ${back.name}`,
  )
}

/** Renders a node, and returns its element in the page. */
function render(node: ReactNode, onError: (error: unknown) => void = () => {}): HTMLElement {
  const root = document.createElement('div')
  document.body.append(root)
  const client = new QueryClient()
  createRoot(root, { onUncaughtError: onError }).render(h(QueryClientProvider, { client }, node))
  return root
}

function FixedPayee({ fixed }: { readonly fixed: FixedAnswer }): ReactElement {
  const { names, name = 'a.unverified.ns', expectParty, maxAgeMs } = fixed
  const options = {
    names,
    ...(expectParty === undefined ? {} : { expectParty }),
    ...(maxAgeMs === undefined ? {} : { maxAgeMs }),
  }
  const { shown, party } = useName(name, options)
  return h('p', null, `${stateOf(shown)} ${party}`)
}

function FixedReverse({ fixed }: { readonly fixed: FixedAnswer }): ReactElement {
  const { shown, name } = useReverse(fixed.name ?? 'alice::1220', { names: fixed.names })
  return h('p', null, `${stateOf(shown)} ${name}`)
}

/** A call of a hook that writes, and the texts that are shown until it ends. */
type Write = {
  readonly names: OwnNames
  readonly name: string
  readonly texts: string[]
  readonly onEnd: (texts: readonly string[]) => void
}

function Register({ write }: { readonly write: Write }): ReactElement {
  return h(Written, { write, shown: useRegister({ names: write.names }) })
}

function Renew({ write }: { readonly write: Write }): ReactElement {
  return h(Written, { write, shown: useRenew({ names: write.names }) })
}

function Written({ write, shown }: { readonly write: Write; readonly shown: Shown }): ReactElement {
  const { mutate, status, steps, payment, error } = shown
  const text = [status, ...steps.map(({ step }) => step), payment, error?.code].join(' ').trim()
  useEffect(() => mutate({ name: write.name }), [mutate, write])
  useEffect(() => {
    write.texts.push(text)
    if (status === 'success' || status === 'error') write.onEnd(write.texts)
  }, [text, status, write])
  return h('p', null, text)
}

/** The first `count` texts that the element shows, in order. */
function textsOf(element: HTMLElement, count: number): Promise<readonly string[]> {
  const texts: string[] = []
  return new Promise((resolve) => {
    const check = () => {
      const text = element.textContent
      if (text !== '' && text !== texts.at(-1)) texts.push(text)
      if (texts.length < count) return
      observer.disconnect()
      resolve(texts)
    }
    const observer = new MutationObserver(check)
    observer.observe(element, { subtree: true, childList: true, characterData: true })
    check()
  })
}

export const wallet = {
  connect(options: { readonly seeds: readonly string[]; readonly genesisHash: string }): void {
    const { seeds, genesisHash } = options
    scan = createScan({ seeds, genesis: genesisHash, store: createLocalStorageStore() })
  },
  resolve: (name: string): Promise<string | null> => scan.names.resolve(name),
  lookup: (name: string): Promise<LookupOutcome> => scan.names.lookup(name),
  async verify(name: string, genesis: Genesis): Promise<readonly string[]> {
    const outcome = await scan.names.lookup(name)
    if (!('receipt' in outcome)) throw new Error(outcome.kind)
    return (await verifyReceipt(outcome.receipt, { genesis, name })).signers
  },
  /** The first `count` event ids, in the order of arrival. */
  async follow(count: number): Promise<readonly string[]> {
    const ids: string[] = []
    const seen = document.createElement('ol')
    seen.id = 'activities'
    document.body.append(seen)
    for await (const { eventId } of scan.activities({ follow: true, pollMs: 100 })) {
      ids.push(eventId)
      seen.dataset['count'] = String(ids.length)
      if (ids.length >= count) break
    }
    return ids
  },
  /** The first `count` offsets that arrive over the browser's WebSocket. */
  async updates(
    options: { readonly url: string; readonly token: string; readonly party: string },
    count: number,
  ): Promise<readonly number[]> {
    const offsets: number[] = []
    const { url, token, party } = options
    const noPages = async () => Promise.reject(new Error('unexpected request for a page'))
    const { updates } = createValidator({ url, token, fetch: noPages })
    for await (const { offset } of updates({ parties: [party] })) {
      offsets.push(offset)
      if (offsets.length >= count) break
    }
    return offsets
  },
  show(name: string, party: string): void {
    render(h(NamesProvider, { names: scan.names }, h(Payee, { name, party })))
  },
  /** Shows an unchanged example of the README, and returns its text once it contains `part`. */
  async showExample(example: 'payee' | 'recipient', typed: string, part: string) {
    const path = `/${example}.js` // Bundled next to this page.
    const { App, Recipient } = (await import(path)) as {
      App: (props: { scan: Scan; name: string }) => ReactElement
      Recipient: (props: { typed: string; resolver: Resolver }) => ReactElement
    }
    const resolvers = [scanNames(scan, { id: 'cns' })]
    const resolver = createResolver({ network: 'localnet', resolvers })
    const root = render(
      example === 'payee' ? h(App, { scan, name: typed }) : h(Recipient, { typed, resolver }),
    )
    await new Promise<void>((resolve) => {
      const check = () =>
        root.textContent?.includes(part) ? resolve() : requestAnimationFrame(check)
      check()
    })
    return root.textContent
  },
  /** The texts that are shown for each fixed answer. `counts` is the number of texts to wait for. */
  async showFixed(kind: 'payees' | 'reverses', counts: Record<string, number>) {
    const fixed = Object.entries(kind === 'payees' ? payees : reverses)
    const texts = fixed.map(async ([title, each]) => {
      const element = render(h(kind === 'payees' ? FixedPayee : FixedReverse, { fixed: each }))
      return [title, await textsOf(element, counts[title] ?? 1)] as const
    })
    return Object.fromEntries(await Promise.all(texts))
  },
  /** Types texts 50 ms apart, and returns the names that were looked up. */
  async type(texts: readonly string[]): Promise<readonly string[]> {
    const lookedUp: string[] = []
    const { names } = payees['enough nodes agree'] as FixedAnswer
    const counting: Names = {
      ...names,
      watch(name, options) {
        lookedUp.push(name)
        return names.watch(name, options)
      },
    }
    const Field = () => {
      const [text, setText] = useState(texts[0] as string)
      useEffect(() => {
        for (const [index, next] of texts.entries()) setTimeout(() => setText(next), 50 * index)
      }, [])
      const { shown } = useName(text, { names: counting })
      return h('p', null, `${text} ${stateOf(shown)}`)
    }
    const element = render(h(Field))
    const last = `${texts.at(-1)} proven`
    while (element.textContent !== last) await new Promise(requestAnimationFrame)
    return lookedUp
  },
  /** Types texts without a pause, and returns the result that is shown for the last one. */
  async search(texts: readonly string[]): Promise<string> {
    const Suggestions = () => {
      const [text, setText] = useState(texts[0] as string)
      useEffect(() => {
        for (const next of texts) setText(next)
      }, [])
      const { shown, entries } = useSearch(text, { names: scan.names, limit: 2 })
      const found = entries.map(({ name }) => name).join(' ')
      const isPending = text !== '' && shown.kind === 'pending'
      return h('p', null, isPending ? '' : `${stateOf(shown)} ${found}`)
    }
    return (await textsOf(render(h(Suggestions)), 1))[0] as string
  },
  /** Registers or renews a name by a hook of the validator, and returns what is shown until the call ends. */
  write(
    hook: 'register' | 'renew',
    name: string,
    options: { readonly url: string; readonly token: string },
  ): Promise<readonly string[]> {
    const { names } = createValidator(options)
    return new Promise((resolve) => {
      const write = { names, name, texts: [], onEnd: resolve }
      render(h(hook === 'register' ? Register : Renew, { write }))
    })
  },
  /** Shows, from now on, the hook's reason why a name is not verified. */
  watchReason(): void {
    const Reason = () => {
      const { shown } = useName('a.unverified.ns', whileOnline)
      const text = shown.kind === 'stale' ? `stale ${shown.error?.code}` : shown.kind
      return h('p', { id: 'watched' }, text)
    }
    render(h(Reason))
  },
  /** Stores a name like a lookup that finds it for the first time. */
  async remember(name: string): Promise<void> {
    const shared = createSharedStore(createLocalStorageStore(), systemClock)
    const seen = createSeenNames(shared, async () => 'tabs', {
      extras: () => Promise.reject(new Error('full')),
    })
    const party = parseParty(`p::1220${'a'.repeat(64)}`)
    await seen.compare([{ name, party, atMicros: 1 }], true)
  },
  remembered: (): readonly string[] =>
    JSON.parse(localStorage.getItem('tabs') ?? '[]').map(([name]: [string]) => name),
  /** Shows one name in two networks at the same time. */
  async showTwoNetworks(): Promise<string> {
    const networks = ['enough nodes agree', 'it has no entry'].map(
      (title) => payees[title] as FixedAnswer,
    )
    const [one, other] = networks.map((fixed, index) => h(FixedPayee, { fixed, key: index }))
    const element = render([one, h('p', { key: 'between' }, ' / '), other])
    for (;;) {
      const [text] = (await textsOf(element, 1)).slice(-1)
      if (text !== undefined && !text.includes('pending')) return text
      await new Promise(requestAnimationFrame)
    }
  },
  /** The error of a component without a NamesProvider. */
  showWithoutNames(): Promise<string> {
    return new Promise((resolve) => {
      render(h(Payee, { name: 'a', party: 'b' }), (error) => resolve((error as Error).message))
    })
  },
  stored: (): readonly string[] => Object.keys(localStorage),
}

Object.assign(globalThis, { wallet })
