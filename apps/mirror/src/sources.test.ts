import type { Transport, TransportReply } from '@quorumscan/reader'
import { createManualClock, untilTrue } from '@quorumscan/testkit'
import { expect, it } from 'vitest'
import { createSources } from './sources.ts'

it('a greedy reader leaves requests to ten modest ones', async () => {
  const answers: (() => void)[] = []
  // A source that answers when the test says so.
  const request = () =>
    new Promise<TransportReply>((resolve) =>
      answers.push(() => resolve({ status: 200, body: new Uint8Array(), header: () => null })),
    )
  const transport = { request } as unknown as Transport
  const sources = createSources({
    sources: ['https://node.example'],
    transport,
    clock: createManualClock(),
  })
  const ask = (reader: string) =>
    sources.ask(
      { path: '/v0/dso', accept: '*/*', body: null, reader },
      { open: async () => 'an answer', isLate: () => false },
    )
  const giveAll = async (asked: readonly Promise<string>[]) => {
    await untilTrue('all to be asked', () => answers.length >= asked.length)
    for (const give of answers.splice(0)) give()
    await Promise.all(asked)
  }
  const greedy = Array.from({ length: 8 }, () => ask('greedy'))
  await expect(ask('greedy')).rejects.toMatchObject({ code: 'OVERLOADED' })
  const modest = Array.from({ length: 10 }, (_, index) => ask(`modest ${index}`))
  await giveAll([...greedy, ...modest])
  await giveAll([ask('greedy')])
})

const refusal = { code: 'ROUTE_NOT_FOUND', error: 'no such path' }

it.each([
  ['garbage with 404', { status: 404, text: 'no page' }, 'b'],
  ['an error of another status', { status: 400, text: JSON.stringify(refusal) }, 'b'],
  ['a refusal, which none contradicts', { status: 404, text: JSON.stringify(refusal) }, 'a'],
  ['that it cannot answer now', { status: 503, text: 'no page' }, 'a'],
] as const)(
  'after a source answered %s, and no other one answered, the next is asked of the right one',
  async (_, reply, first) => {
    const replies = new Map<string, { readonly status: number; readonly text: string }>([
      ['a', reply],
      ['b', { status: 503, text: '' }],
    ])
    const asked: string[] = []
    const request = async ({ url }: { readonly url: string }): Promise<TransportReply> => {
      const { hostname } = new URL(url)
      asked.push(hostname)
      const { status = 200, text = '' } = replies.get(hostname) ?? {}
      return { status, body: Buffer.from(text), header: () => null }
    }
    const sources = createSources({
      sources: ['https://a', 'https://b'],
      transport: { request } as unknown as Transport,
      clock: createManualClock(),
    })
    const ask = () =>
      sources.ask(
        { path: '/v0/dso', accept: '*/*', body: null, reader: 'one' },
        { open: async () => 'an answer', isLate: () => false },
      )
    await expect(ask()).rejects.toThrow()
    expect(asked).toEqual(['a', 'b'])
    replies.clear()
    expect(await ask()).toBe('an answer')
    expect(asked.slice(2)).toEqual([first])
  },
)
