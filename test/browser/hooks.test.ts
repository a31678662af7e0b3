/** The hooks of the SDK in Chromium, over names in memory: each state that a component can show, and each way out of it. */
import { join } from 'node:path'
import { type OwnNames, parseParty } from '@quorumscan/sdk'
import { serve, type TestServer } from '@quorumscan/testkit'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { bundlePage } from '../support/bundle.ts'
import { launchChromium, requireChromium } from '../support/chromium.ts'
import type { kit as Kit } from './hooks-page.ts'

declare const kit: typeof Kit // Defined in the page.

const partyOf = (hint: string, digit: string) => parseParty(`${hint}::1220${digit.repeat(64)}`)
const [ALICE, OTHER, THIRD] = [partyOf('alice', 'a'), partyOf('other', 'b'), partyOf('third', 'c')]
const parties = [ALICE, OTHER, THIRD] as const

describe('in Chromium', () => {
  let browser: Browser
  let server: TestServer
  let page: Page

  beforeAll(async () => {
    requireChromium()
    const source = join(import.meta.dirname, 'hooks-page.ts')
    const scripts = await bundlePage({ page: source }, { isFromSources: true })
    server = await serve((request, response) => {
      const script = scripts.get(request.url ?? '')
      response.setHeader('content-type', script === undefined ? 'text/html' : 'text/javascript')
      response.end(
        script ??
          '<!doctype html><title>hooks</title><script type="module" src="/page.js"></script>',
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
        await textOf({ ...fakes, watch })('APPLICATION_FAILED')
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
      expect(texts).toEqual(['false pending', 'true proven', 'false pending'])
    })
  })

  describe.each(['useName', 'useParty'] as const)('%s', (hook) => {
    it('shows nothing of another text, nor of another source', async () => {
      const texts = await page.evaluate(
        async ([hook, alice, other]) => {
          const [first, second] = [kit.fakeNames({ alice, bob: other }), kit.fakeNames({})]
          const [own, empty] = [kit.resolverOf(first), kit.resolverOf(second)]
          const shown = kit.show((typed) => {
            const isSecond = typed === 'alice '
            const resolver = isSecond ? empty : own
            const names = isSecond ? second : first
            const ofName = kit.useName(hook === 'useName' ? typed : '', { names })
            const ofParty = kit.useParty(hook === 'useParty' ? typed : '', { resolver })
            const { shown: now, party } = hook === 'useName' ? ofName : ofParty
            return `${kit.stateOf(now)} ${party}`
          }, 'alice')
          await shown.until(`proven ${alice}`)
          shown.type('bob')
          await shown.until('pending null')
          await shown.until(`proven ${other}`)
          shown.type('alice')
          await shown.until(`proven ${alice}`)
          // The same name of other names.
          shown.type('alice ')
          await shown.until('absent null')
          return shown.texts
        },
        [hook, ALICE, OTHER] as const,
      )
      expect(texts).toEqual([
        'pending null',
        `proven ${ALICE}`,
        'pending null',
        `proven ${OTHER}`,
        'pending null',
        `proven ${ALICE}`,
        'pending null',
        'absent null',
      ])
    })
  })

  it('a watch that has ended is started again by `retry`', async () => {
    const text = await page.evaluate(async ([alice]) => {
      const fakes = kit.fakeNames({ alice })
      let count = 0
      const watch: typeof fakes.watch = (...asked) => {
        if (count++ === 0) throw new Error('broken')
        return fakes.watch(...asked)
      }
      const names = { ...fakes, watch }
      let retry = () => {}
      const shown = kit.show(() => {
        const found = kit.useName('alice', { names })
        retry = found.retry
        return `${kit.stateOf(found.shown)} ${found.party}`
      })
      await shown.until('APPLICATION_FAILED null')
      retry()
      await shown.until(`proven ${alice}`)
      return shown.texts.at(-1)
    }, parties)
    expect(text).toBe(`proven ${ALICE}`)
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
        'pending null',
        `proven ${ALICE}`,
        'pending null',
        'absent null',
        'pending null',
        `proven ${OTHER}`,
        'pending null',
        'INVALID_NAME null',
        'pending null',
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
        // Nothing was shown then.
        await accepts[0]?.()
        const acceptFirst = accepts.at(-1)
        names.changeOwner('alice', third)
        await acceptFirst?.()
        await shown.until(`changed null ${third}`)
        await accepts.at(-1)?.()
        await shown.until(`proven ${third} false`)
        return shown.texts.slice(-3)
      }, parties)
      expect(texts).toEqual([
        `changed null ${OTHER}`,
        `changed null ${THIRD}`,
        `proven ${THIRD} false`,
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
        `proven ${ALICE} false`,
        'stale null NETWORK_ERROR',
        `proven ${ALICE} false`,
      ])
    })
  })

  // One rule of freshness for both fields of a recipient.
  describe.each(['useName', 'useParty'] as const)('%s', { tags: ['rest'] }, (hook) => {
    const asked = [hook, ALICE, OTHER] as const

    it('shows an answer as stale whose record time is too old when it comes', async () => {
      const texts = await page.evaluate(async ([hook, alice]) => {
        const names = kit.olderNames(kit.fakeNames({ alice }), 61_000)
        const shown = kit.show(() => {
          const { shown: now, party } = kit.useRecipient(hook, names)
          return `${now.kind} ${party}`
        })
        await shown.until('stale null')
        return shown.texts
      }, asked)
      expect(texts).toEqual(['pending null', 'stale null'])
    })

    it('takes the party away at a dispute and at the end of the entry, and shows a change of owner', async () => {
      const texts = await page.evaluate(async ([hook, alice, other]) => {
        const names = kit.fakeNames({ alice })
        const shown = kit.show(() => {
          const { shown: now, party } = kit.useRecipient(hook, names, { pollMs: 100 })
          return `${kit.stateOf(now)} ${party}`
        })
        await shown.until(`proven ${alice}`)
        names.fail('CONSENSUS_DISPUTED')
        await shown.until('CONSENSUS_DISPUTED null')
        names.fail(null)
        await shown.until(`proven ${alice}`)
        names.changeOwner('alice', other)
        await shown.until('changed null')
        await names.acceptChange('alice', other)
        await shown.until(`proven ${other}`)
        names.expire('alice')
        await shown.until('NAME_EXPIRED null')
        names.remove('alice')
        await shown.until('absent null')
        return shown.texts.slice(1)
      }, asked)
      expect(texts).toEqual([
        `proven ${ALICE}`,
        'CONSENSUS_DISPUTED null',
        `proven ${ALICE}`,
        'changed null',
        `proven ${OTHER}`,
        'NAME_EXPIRED null',
        'absent null',
      ])
    })

    it('reads at once when another tab has accepted the change', async () => {
      const text = await page.evaluate(async ([hook, alice, other]) => {
        const names = kit.fakeNames({ alice })
        // No other read comes in time.
        const shown = kit.show(() => {
          const { shown: now, party } = kit.useRecipient(hook, names, { pollMs: 3_600_000 })
          return `${now.kind} ${party}`
        })
        await shown.until(`proven ${alice}`)
        names.changeOwner('alice', other)
        const accepted = setInterval(() => void names.acceptChange('alice', other), 600)
        await shown.until(`proven ${other}`)
        clearInterval(accepted)
        return shown.texts.at(-1)
      }, asked)
      expect(text).toBe(`proven ${OTHER}`)
    })

    it('is offline without a network, and reads at once when the device is online again', async () => {
      const texts = await page.evaluate(async ([hook, alice]) => {
        const names = kit.fakeNames({ alice })
        names.fail('NETWORK_ERROR')
        kit.setOnline(false)
        const shown = kit.show(() => {
          const { shown: now, party } = kit.useRecipient(hook, names, { pollMs: 3_600_000 })
          return `${kit.stateOf(now)} ${party}`
        })
        await shown.until('OFFLINE null')
        names.fail(null)
        kit.setOnline(true)
        await shown.until(`proven ${alice}`)
        return shown.texts
      }, asked)
      expect(texts).toEqual(['pending null', 'OFFLINE null', `proven ${ALICE}`])
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

  it('a name that has changed its owner, or has ended, is not shown for its party', async () => {
    const texts = await page.evaluate(async ([alice, other]) => {
      const names = kit.fakeNames({ alice })
      await names.resolve('alice')
      names.changeOwner('alice', other)
      const shown = kit.show(() => {
        const { text, isPending } = kit.usePartyName(other, { names })
        return `${text} ${isPending}`
      })
      await shown.until('other false')
      const shortLived = kit.fakeNames({ alice })
      const reverse: typeof names.reverse = async (...asked) => {
        const entry = await shortLived.reverse(...asked)
        return entry && { ...entry, expiresAt: '2020-01-01T00:00:00.000000Z' }
      }
      const ended = kit.show(() => {
        const { text, source } = kit.usePartyName(alice, { names: { ...shortLived, reverse } })
        return `${text} ${source}`
      })
      await ended.until('alice hint')
      return [...shown.texts, ...ended.texts]
    }, parties)
    expect(texts).not.toContain('alice.unverified.ns false')
    expect(texts).not.toContain('alice.unverified.ns name')
  })

  describe('useBalance', () => {
    it('has the error of a read at once', async () => {
      const text = await page.evaluate(async ([alice]) => {
        const { wallet } = kit.fakeValidator({ party: alice })
        let reads = 0
        const balance: typeof wallet.balance = () => {
          reads++
          return Promise.reject(
            new kit.QuorumscanError('late', { code: 'TIMEOUT', definite: true, retryable: true }),
          )
        }
        const shown = kit.show(() => {
          const own = { ...wallet, balance }
          const { status, error } = kit.useBalance({ wallet: own, scope: 'failing' })
          return `${status} ${error?.code}`
        })
        await shown.until('error TIMEOUT')
        return `${shown.texts.at(-1)} ${reads}`
      }, parties)
      expect(text).toBe('error TIMEOUT 1')
    })
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

    it('reads the balance again after a registration, and can be reset', async () => {
      const text = await page.evaluate(async ([alice]) => {
        const { names, wallet } = kit.fakeValidator({ party: alice, coin: '500.0' })
        const last: { now?: ReturnType<typeof kit.useRegister> } = {}
        const shown = kit.show(() => {
          last.now = kit.useRegister({ names })
          // No other read comes in time.
          const { data } = kit.useBalance({ wallet, refetchInterval: 3_600_000 })
          const { status, steps, payment } = last.now
          return `${status} ${steps.length} ${payment} ${data?.effectiveUnlockedQty}`
        })
        await shown.until('idle 0 null 500.0000000000')
        last.now?.mutate({ name: 'erin' })
        await shown.until('success 3 paid 300.0000000000')
        last.now?.reset()
        await shown.until('idle 0 null 300.0000000000')
        return shown.texts.at(-1)
      }, parties)
      expect(text).toBe('idle 0 null 300.0000000000')
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

  describe('useTransfer', { tags: ['rest'] }, () => {
    it('shows the steps, and then what the ledger has of a payment without an answer', async () => {
      const texts = await page.evaluate(async ([alice, other]) => {
        const { payments, ...fake } = kit.fakeValidator({ party: alice, coin: '100.0' })
        const mutates: ReturnType<typeof kit.useTransfer>['mutate'][] = []
        const shown = kit.show(() => {
          const { mutate, status, steps, result, payment } = kit.useTransfer({ payments })
          mutates.push(mutate)
          return `${status} ${steps.map(({ step }) => step).join('+')} ${result?.kind} ${payment}`
        })
        await shown.until('idle  undefined null')
        fake.fail({ how: 'lost', when: 'after' })
        mutates[0]?.({ receiver: other, coin: '1.5' })
        await shown.until('success stored+sent done paid')
        fake.fail({ how: 'UNAUTHENTICATED', when: 'before' })
        mutates[0]?.({ receiver: other, coin: '1.5' })
        await shown.until('success stored+sent refused not-paid')
        mutates[0]?.({ receiver: other, coin: '1.5' })
        await shown.until('success stored+sent+done done paid')
        const { effectiveLockedQty } = await fake.wallet.balance()
        return [...new Set(shown.texts), effectiveLockedQty]
      }, parties)
      expect(texts).toContain('success stored+sent unknown unknown')
      expect(texts.at(-1)).toBe('3.0000000000')
    })

    it('fails at once while the device is offline, and sends nothing later', async () => {
      const { text, balance, unfinished } = await page.evaluate(async ([alice, other]) => {
        const { payments, ...fake } = kit.fakeValidator({ party: alice, coin: '100.0' })
        let send = () => {}
        const shown = kit.show(() => {
          const { mutate, result } = kit.useTransfer({ payments })
          send = () => mutate({ receiver: other, coin: '1.5' })
          return result?.kind === 'refused' ? result.error.code : `${result?.kind}`
        })
        await shown.until('undefined')
        kit.setOnline(false)
        send()
        await shown.until('OFFLINE')
        kit.setOnline(true)
        // Whatever a library has queued is sent before this one.
        await payments.tap({ usd: '1.0' })
        const { effectiveUnlockedQty: balance } = await fake.wallet.balance()
        const { length: unfinished } = await payments.unfinished()
        return { text: shown.texts.at(-1), balance, unfinished }
      }, parties)
      expect({ text, balance, unfinished }).toEqual({
        text: 'OFFLINE',
        balance: '300.0000000000',
        unfinished: 0,
      })
    })

    it('ends the wait for an answer, and settles what another page left', async () => {
      const { locked, pending } = await page.evaluate(async ([alice, other]) => {
        const store = kit.createMemoryStore()
        // No answer comes before the wait is cancelled.
        const timeoutMs = 3_600_000
        const fake = kit.fakeValidator({ party: alice, coin: '100.0', store, timeoutMs })
        const use = (payments: typeof fake.payments) => {
          const last: { now?: ReturnType<typeof kit.useTransfer> } = {}
          const shown = kit.show(() => {
            last.now = kit.useTransfer({ payments })
            const { status, steps, result, unfinished } = last.now
            return `${status} ${steps.length} ${result?.kind} ${unfinished.length}`
          })
          return { ...shown, now: () => last.now }
        }
        const first = use(fake.payments)
        await first.until('idle 0 undefined 0')
        fake.fail({ how: 'silence', when: 'before' })
        first.now()?.mutate({ receiver: other, coin: '1.5' })
        await first.until('pending 2 undefined 0')
        first.now()?.cancel()
        await first.until('success 2 unknown 1')
        const second = use(fake.another({ store }).payments)
        await second.until('idle 0 undefined 1')
        const [left] = second.now()?.unfinished ?? []
        if (left !== undefined) second.now()?.mutate(left)
        await second.until('success 3 done 0')
        // It reads the ledger.
        await first.until('success 2 done 0')
        const { effectiveLockedQty: locked } = await fake.wallet.balance()
        return { locked, pending: second.texts.filter((text) => text.startsWith('pending')) }
      }, parties)
      expect(locked).toBe('1.5000000000')
      // What a call settles now is not offered again.
      expect(pending).not.toEqual([])
      for (const text of pending) expect(text).toMatch(/ 0$/)
    })

    it('reads the ledger of an unknown payment by itself, and sends nothing', async () => {
      const { sends, locked } = await page.evaluate(async ([alice, other]) => {
        const fake = kit.fakeValidator({ party: alice, coin: '100.0' })
        const sends: unknown[] = []
        const transfer: typeof fake.payments.transfer = async (...asked) => {
          const made = await fake.payments.transfer(...asked)
          if (made.kind !== 'unknown') return made
          const settle: typeof made.settle = (options = {}) => {
            sends.push(options.send)
            return made.settle(options)
          }
          return { ...made, settle }
        }
        const payments = { ...fake.payments, transfer }
        let send = () => {}
        const shown = kit.show(() => {
          const { mutate, result } = kit.useTransfer({ payments })
          send = () => mutate({ receiver: other, coin: '1.5' })
          return String(result?.kind)
        })
        await shown.until('undefined')
        fake.fail({ how: 'lost', when: 'before' })
        send()
        await shown.until('unknown')
        while (sends.length === 0) await new Promise(requestAnimationFrame)
        const { effectiveLockedQty: locked } = await fake.wallet.balance()
        return { sends, locked }
      }, parties)
      expect(new Set(sends)).toEqual(new Set([false]))
      expect(locked).toBe('0.0000000000')
    })

    it('shows what became of its own payment, also of calls in the same millisecond', async () => {
      const texts = await page.evaluate(async ([alice, other]) => {
        const { payments, ...fake } = kit.fakeValidator({ party: alice, coin: '100.0' })
        const last: ReturnType<typeof kit.useTransfer>[] = []
        const restore = kit.stopClock()
        const shown = kit.show(() => {
          last[0] = kit.useTransfer({ payments })
          last[1] = kit.useTransfer({ payments })
          return last.map(({ result }) => result?.kind).join()
        })
        const send = (hook: number) => last[hook]?.mutate({ receiver: other, coin: '1.5' })
        await shown.until(',')
        fake.fail({ how: 'lost', when: 'after' })
        send(0)
        await shown.until('done,')
        fake.fail({ how: 'lost', when: 'before' })
        send(1)
        await shown.until('done,unknown')
        fake.fail({ how: 'UNAUTHENTICATED', when: 'before' })
        send(0)
        await shown.until('refused,unknown')
        restore()
        return shown.texts
      }, parties)
      expect(texts).not.toContain('done,done')
    })

    it('runs one call after the other, reads the balance again at once, and can be reset', async () => {
      const { started, text } = await page.evaluate(async ([alice, other]) => {
        const fake = kit.fakeValidator({ party: alice, coin: '100.0' })
        const started: string[] = []
        const goOn: (() => void)[] = []
        const transfer: typeof fake.payments.transfer = async (input, options) => {
          started.push(input.coin)
          await new Promise<void>((resolve) => goOn.push(resolve))
          started.push(`${input.coin} ends`)
          return await fake.payments.transfer(input, options)
        }
        const payments = { ...fake.payments, transfer }
        const last: { now?: ReturnType<typeof kit.useTransfer> } = {}
        const shown = kit.show(() => {
          last.now = kit.useTransfer({ payments })
          // No other read comes in time.
          const asked = { wallet: fake.wallet, refetchInterval: 3_600_000 }
          const { data } = kit.useBalance(asked)
          const { status, steps, payment } = last.now
          return `${status} ${steps.length} ${payment} ${data?.effectiveLockedQty}`
        })
        await shown.until('idle 0 null 0.0000000000')
        for (const coin of ['1.0', '2.0']) last.now?.mutate({ receiver: other, coin })
        for (let call = 0; call < 2; call++) {
          while (goOn[call] === undefined) await new Promise(requestAnimationFrame)
          goOn[call]?.()
        }
        await shown.until('success 3 paid 3.0000000000')
        last.now?.reset()
        await shown.until('idle 0 null 3.0000000000')
        return { started, text: shown.texts.at(-1) }
      }, parties)
      expect(started).toEqual(['1.0', '1.0 ends', '2.0', '2.0 ends'])
      expect(text).toBe('idle 0 null 3.0000000000')
    })
  })
})
