/** The hooks of the SDK in Chromium, over names in memory: each state that a component can show, and each way out of it. */
import { join } from 'node:path'
import type { OwnNames } from '@quorumscan/sdk'
import { serve, type TestServer } from '@quorumscan/testkit'
import { build } from 'esbuild'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { launchChromium, requireChromium } from '../support/chromium.ts'
import type { kit as Kit } from './hooks-page.ts'

declare const kit: typeof Kit // Defined in the page.

const partyOf = (hint: string, digit: string) => `${hint}::1220${digit.repeat(64)}`
const [ALICE, OTHER, THIRD] = [partyOf('alice', 'a'), partyOf('other', 'b'), partyOf('third', 'c')]
const parties = [ALICE, OTHER, THIRD] as const

describe('in Chromium', () => {
  let browser: Browser
  let server: TestServer
  let page: Page

  beforeAll(async () => {
    requireChromium()
    const { outputFiles } = await build({
      entryPoints: [join(import.meta.dirname, 'hooks-page.ts')],
      bundle: true,
      write: false,
      format: 'esm',
      conditions: ['@quorumscan/source'],
      define: { 'process.env.NODE_ENV': '"production"' },
    })
    const script = outputFiles[0]?.text
    server = await serve((request, response) => {
      const isScript = request.url === '/page.js'
      response.setHeader('content-type', isScript ? 'text/javascript' : 'text/html')
      response.end(
        isScript
          ? script
          : '<!doctype html><title>hooks</title><script type="module" src="/page.js"></script>',
      )
    })
    browser = await launchChromium()
    page = await browser.newPage()
    await page.goto(`${server.url}/`)
  })
  afterAll(async () => {
    await browser?.close()
    await server?.[Symbol.asyncDispose]()
  })

  describe('the store over IndexedDB of the README', () => {
    it('opens again after the browser closed its connection, and after the data was deleted', async () => {
      const values = await page.evaluate(async () => {
        const opened: IDBDatabase[] = []
        const { open } = indexedDB
        indexedDB.open = (...asked) => {
          const opening = open.apply(indexedDB, asked)
          opening.addEventListener('success', () => opened.push(opening.result))
          return opening
        }
        const store = kit.createIndexedDbStore('closed')
        await store.set('a', '1')
        opened.at(-1)?.close()
        const afterClose = await store.get('a')
        await new Promise((resolve, reject) => {
          const deleting = indexedDB.deleteDatabase('closed')
          deleting.onsuccess = resolve
          deleting.onblocked = reject
        })
        const afterDelete = await store.get('a')
        await store.set('a', '2')
        indexedDB.open = open
        return [afterClose, afterDelete, await store.get('a'), opened.length]
      })
      expect(values).toEqual(['1', null, '2', 3])
    })
  })

  describe('useName', () => {
    it('shows a change of owner when a watch reports it, until it is accepted', async () => {
      const { texts, options } = await page.evaluate(async ([alice, other]) => {
        const fakes = kit.fakeNames({ alice })
        const options = new Set<string>()
        const watch: typeof fakes.watch = (name, more) => {
          options.add(Object.keys(more ?? {}).join())
          return fakes.watch(name, more)
        }
        const names = { ...fakes, watch }
        const shown = kit.show(() => {
          const { shown: now, party } = kit.useName('alice', { names })
          const previous = now.kind === 'changed' ? now.previous.previousParty : null
          return `${now.kind} ${party} ${previous} ${now.kind === 'proven' && now.basis}`
        })
        await shown.until(`proven ${alice} null proof`)
        names.changeOwner('alice', other)
        await shown.until(`changed null ${alice} false`)
        await names.acceptChange('alice', other)
        await shown.until(`proven ${other} null proof`)
        return { texts: shown.texts, options: [...options] }
      }, parties)
      expect(texts).toHaveLength(4)
      // The pace is that of `watch`.
      expect(options).toEqual(['signal,onStart'])
    })

    it('ages while it is fetched again and again, and no node answers', async () => {
      const text = await page.evaluate(async ([alice]) => {
        const fakes = kit.fakeNames({ alice })
        // A watch of the SDK over lookups of which only the first ends.
        const names = kit.hangingNames(fakes)
        let refetch = () => {}
        const shown = kit.show(() => {
          const found = kit.useName('alice', { names, maxAgeMs: 600 })
          refetch = found.retry
          return found.shown.kind
        })
        await shown.until('proven')
        const timer = setInterval(() => refetch(), 50)
        await shown.until('stale')
        clearInterval(timer)
        return shown.texts.at(-1)
      }, parties)
      expect(text).toBe('stale')
    })

    it('has an error where the reason is a failure, also if the cause is not an error of the SDK', async () => {
      const texts = await page.evaluate(async () => {
        const fakes = kit.fakeNames()
        const textOf = (names: typeof fakes) => async (text: string) => {
          const shown = kit.show(() => {
            return kit.stateOf(kit.useName('alice', { names }).shown)
          })
          await shown.until(text)
        }
        fakes.fail('OVERLOADED')
        await textOf(fakes)('OVERLOADED')
        const watch = (() => {
          throw new Error('broken')
        }) as typeof fakes.watch
        await textOf({ ...fakes, watch })('NETWORK_ERROR')
        return 'both'
      })
      expect(texts).toBe('both')
    })

    it('looks up nothing unless it is enabled, and selects `data`', async () => {
      const texts = await page.evaluate(async ([alice]) => {
        const names = kit.fakeNames({ alice })
        const shown = kit.show((typed) => {
          const query = {
            enabled: typed === 'on',
            select: ({ kind }: { readonly kind: string }) => kind,
          }
          const { party, data } = kit.useName('alice', { names, query })
          return `${party === alice} ${data}`
        })
        await shown.until('false pending')
        shown.type('on')
        await shown.until('true proven')
        shown.type('off')
        await shown.until('false pending')
        return shown.texts
      }, parties)
      expect(texts).toEqual([...['false pending', 'true proven', 'false pending']])
    })
  })

  describe('useReverse', () => {
    it.each([undefined, 0])(
      'ages while it is fetched again and again (staleTime %s), and no node answers',
      async (staleTime) => {
        const text = await page.evaluate(
          async ([alice, staleTime]) => {
            const names = kit.hangingNames(kit.fakeNames({ alice: alice as string }))
            const query = staleTime === undefined ? {} : { staleTime: staleTime as number }
            let refetch = () => {}
            const shown = kit.show(() => {
              const found = kit.useReverse(alice as string, { names, maxAgeMs: 600, query })
              refetch = found.retry
              return found.shown.kind
            })
            await shown.until('proven')
            const timer = setInterval(() => refetch(), 50)
            await shown.until('stale')
            clearInterval(timer)
            return shown.texts.at(-1)
          },
          [ALICE, staleTime] as const,
        )
        expect(text).toBe('stale')
      },
    )

    it('ages by the monotonic clock if the wall clock is set back', async () => {
      const text = await page.evaluate(async ([alice]) => {
        const names = kit.hangingNames(kit.fakeNames({ alice }))
        const shown = kit.show(() => kit.useReverse(alice, { names, maxAgeMs: 600 }).shown.kind)
        await shown.until('proven')
        const restore = kit.setClockBack(3_600_000)
        await shown.until('stale')
        restore()
        return shown.texts.at(-1)
      }, parties)
      expect(text).toBe('stale')
    })

    it.each([
      [60_000, 1],
      [0, 2],
    ])('with `staleTime` %s reads %s times for two components', async (staleTime, count) => {
      const asked = [staleTime, ALICE] as const
      const read = await page.evaluate(async ([staleTime, alice]) => {
        const fakes = kit.fakeNames({ alice })
        let count = 0
        const reverseMany: typeof fakes.reverseMany = (...asked) => {
          count++
          return fakes.reverseMany(...asked)
        }
        const names = { ...fakes, reverseMany }
        const shown = kit.show(() => {
          const { shown: now, name } = kit.useReverse(alice, { names, query: { staleTime } })
          return `${now.kind} ${name}`
        })
        await shown.until('proven alice.unverified.ns')
        shown.texts.length = 0
        shown.remount()
        await shown.until('proven alice.unverified.ns')
        return count
      }, asked)
      expect(read).toBe(count)
    })
  })

  describe('useParty', () => {
    it('resolves what is typed when typing pauses: a name, a party, and what is neither', async () => {
      const texts = await page.evaluate(async ([alice, other]) => {
        const resolver = kit.resolverOf(kit.fakeNames({ alice }))
        const shown = kit.show((typed) => {
          const { shown: now, party } = kit.useParty(typed, { resolver })
          return `${kit.stateOf(now)} ${party}`
        })
        await shown.until('pending null')
        for (const [typed, text] of [
          [' alice ', `proven ${alice}`],
          ['bob', 'absent null'],
          [other, `proven ${other}`],
          ['mainnet:cns:alice.unverified.ns', 'INVALID_NAME null'],
          ['', 'pending null'],
        ] as const) {
          shown.type(typed)
          await shown.until(text)
        }
        return shown.texts
      }, parties)
      expect(texts).toEqual([
        ...['pending null', `proven ${ALICE}`, 'pending null', 'absent null', 'pending null'],
        ...[`proven ${OTHER}`, 'pending null', 'INVALID_NAME null', 'pending null'],
      ])
    })

    it('accepts the change of owner that was shown, and no other one', async () => {
      const texts = await page.evaluate(async ([alice, other, third]) => {
        const names = kit.fakeNames({ alice })
        const resolver = kit.resolverOf(names)
        const pollMs = 100
        const accepts: (() => Promise<void>)[] = []
        const shown = kit.show(() => {
          const result = kit.useParty('alice', { resolver, pollMs })
          accepts.push(result.acceptChange)
          const { shown: now, party } = result
          return `${now.kind} ${party} ${now.kind === 'changed' && now.value.party}`
        })
        await shown.until(`proven ${alice} false`)
        names.changeOwner('alice', other)
        await shown.until(`changed null ${other}`)
        const acceptFirst = accepts.at(-1)
        names.changeOwner('alice', third)
        await acceptFirst?.()
        await shown.until(`changed null ${third}`)
        await accepts.at(-1)?.()
        await shown.until(`proven ${third} false`)
        return shown.texts.slice(-3)
      }, parties)
      expect(texts).toEqual([
        ...[`changed null ${OTHER}`, `changed null ${THIRD}`, `proven ${THIRD} false`],
      ])
    })

    it('keeps the last answer while reads fail, until it is too old; then it is stale, and can be retried', async () => {
      const texts = await page.evaluate(async ([alice]) => {
        const names = kit.fakeNames({ alice })
        const resolver = kit.resolverOf(names)
        let retry = () => {}
        const bounds = { pollMs: 100, maxAgeMs: 1500 }
        const shown = kit.show(() => {
          const { shown: now, party, ...more } = kit.useParty('alice', { resolver, ...bounds })
          retry = more.retry
          return `${now.kind} ${party} ${now.kind === 'stale' && now.error?.code}`
        })
        await shown.until(`proven ${alice} false`)
        names.fail('NETWORK_ERROR')
        await shown.until('stale null NETWORK_ERROR')
        names.fail(null)
        retry()
        await shown.until(`proven ${alice} false`)
        return shown.texts
      }, parties)
      expect(texts.slice(-3)).toEqual([
        ...[`proven ${ALICE} false`, 'stale null NETWORK_ERROR', `proven ${ALICE} false`],
      ])
    })

    it('reads again at once when another tab has accepted the change', async () => {
      const text = await page.evaluate(async ([alice, other]) => {
        const names = kit.fakeNames({ alice })
        const resolver = kit.resolverOf(names)
        // No other read comes in time.
        const shown = kit.show(() => {
          const { shown: now, party } = kit.useParty('alice', { resolver, pollMs: 3_600_000 })
          return `${now.kind} ${party}`
        })
        await shown.until(`proven ${alice}`)
        names.changeOwner('alice', other)
        const accepted = setInterval(() => void names.acceptChange('alice', other), 600)
        await shown.until(`proven ${other}`)
        clearInterval(accepted)
        return shown.texts.at(-1)
      }, parties)
      expect(text).toBe(`proven ${OTHER}`)
    })

    it('a dispute and the end of an entry take the party away at once', async () => {
      const texts = await page.evaluate(async ([alice]) => {
        const names = kit.fakeNames({ alice })
        const resolver = kit.resolverOf(names)
        const shown = kit.show(() => {
          const { shown: now, party } = kit.useParty('alice', { resolver, pollMs: 100 })
          return `${kit.stateOf(now)} ${party}`
        })
        await shown.until(`proven ${alice}`)
        names.fail('CONSENSUS_DISPUTED')
        await shown.until('CONSENSUS_DISPUTED null')
        names.fail(null)
        await shown.until(`proven ${alice}`)
        names.expire('alice')
        await shown.until('NAME_EXPIRED null')
        names.remove('alice')
        await shown.until('absent null')
        return shown.texts.slice(1)
      }, parties)
      expect(texts).toEqual([
        ...[`proven ${ALICE}`, 'CONSENSUS_DISPUTED null', `proven ${ALICE}`],
        ...['NAME_EXPIRED null', 'absent null'],
      ])
    })
  })

  describe('usePartyName', () => {
    it.each(['names', 'resolver'] as const)(
      'shows a name that leads back, else the hint, with the %s',
      async (source) => {
        const asked = [source, ALICE, OTHER] as const
        const texts = await page.evaluate(async ([source, alice, other]) => {
          const names = kit.fakeNames({ alice })
          const from = source === 'names' ? { names } : { resolver: kit.resolverOf(names) }
          const shown = kit.show((typed) => {
            const { text, icon, source, isPending, error } = kit.usePartyName(typed, from)
            return `${text} ${icon} ${source} ${isPending} ${error?.code}`
          }, alice)
          await shown.until('alice.unverified.ns cns name false undefined')
          shown.type(other)
          await shown.until('other null hint false undefined')
          names.fail('NETWORK_ERROR')
          const failed = kit.show(() => {
            const { text, error } = kit.usePartyName(alice, from)
            return `${text} ${error?.code}`
          })
          await failed.until('alice NETWORK_ERROR')
          return shown.texts
        }, asked)
        expect(texts).toEqual([
          'alice null hint true undefined',
          'alice.unverified.ns cns name false undefined',
          'other null hint true undefined',
          'other null hint false undefined',
        ])
      },
    )
  })

  describe('useRegister', () => {
    it('shows steps and payment of each call, one call after the other', async () => {
      const { texts, started } = await page.evaluate(async ([alice]) => {
        type Call = {
          readonly onProgress: (step: object) => void
          readonly resolve: (done: object) => void
          readonly reject: (error: Error) => void
        }
        const started: string[] = []
        const calls: Call[] = []
        const register = ((input, options) => {
          started.push(input.name)
          return new Promise((resolve, reject) => {
            calls.push({
              onProgress: options?.onProgress as never,
              resolve: resolve as never,
              reject,
            })
          })
        }) as OwnNames['register']
        const names = { ...kit.fakeNames({ alice }), register } as unknown as OwnNames
        const mutates: ReturnType<typeof kit.useRegister>['mutate'][] = []
        const shown = kit.show(() => {
          const { mutate, status, steps, payment, error } = kit.useRegister({ names })
          mutates.push(mutate)
          return `${status} ${steps.map(({ step }) => step).join('+')} ${payment} ${error?.code}`
        })
        await shown.until('idle  null undefined')
        mutates[0]?.({ name: 'one' })
        mutates[0]?.({ name: 'two' })
        await shown.until('pending  null undefined')
        calls[0]?.onProgress({ step: 'requested' })
        await shown.until('pending requested not-paid undefined')
        calls[0]?.onProgress({ step: 'paid' })
        await shown.until('pending requested+paid locked undefined')
        started.push('one has ended')
        calls[0]?.resolve({})
        await shown.until('pending  null undefined')
        calls[1]?.onProgress({ step: 'requested' })
        const facts = { definite: false, retryable: true, payment: 'unknown' } as const
        calls[1]?.reject(new kit.QuorumscanError('late', { code: 'PAYMENT_UNKNOWN', ...facts }))
        await shown.until('error requested unknown PAYMENT_UNKNOWN')
        mutates[0]?.({ name: 'two' })
        await shown.until('pending  null undefined')
        calls[2]?.onProgress({ step: 'active' })
        calls[2]?.resolve({})
        await shown.until('success active paid undefined')
        return { texts: shown.texts, started }
      }, parties)
      expect(started).toEqual(['one', 'one has ended', 'two', 'two'])
      expect(texts.at(-1)).toBe('success active paid undefined')
    })

    it('needs names that can be registered', async () => {
      const message = await page.evaluate(async () => {
        const names = kit.fakeNames() as unknown as OwnNames
        const shown = kit.show(() => kit.useRegister({ names }).status)
        return shown.error()
      })
      expect(message).toContain('createValidator')
    })
  })
})
