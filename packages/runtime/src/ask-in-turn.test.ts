import { createManualClock } from '@quorumscan/testkit'
import { beforeEach, expect, it } from 'vitest'
import { askInTurn, type SourceAnswer } from './ask-in-turn.ts'
import { createPenalties } from './penalties.ts'

type Source = { readonly name: string; readonly answer: (signal: AbortSignal) => Promise<Reply> }
type Reply = SourceAnswer<string>

const never = new AbortController().signal
let clock = createManualClock()
let penalties = createPenalties<Source>(clock)
let asked: string[] = []
beforeEach(() => {
  clock = createManualClock()
  penalties = createPenalties<Source>(clock)
  asked = []
})

const proven = async (): Promise<Reply> => ({ kind: 'proven', answer: 'yes' })
const hangs = (signal: AbortSignal) =>
  new Promise<never>((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
const fails = async () => {
  throw new Error('garbage')
}
const says = (kind: 'doubtful' | 'unable') => async (): Promise<Reply> => ({ kind })
const after = (ms: number) => (signal: AbortSignal) => clock.delay(ms, signal).then(proven)
const sourcesOf = (answers: Readonly<Record<string, Source['answer']>>): readonly Source[] =>
  Object.entries(answers).map(([name, answer]) => ({ name, answer }))
const turn = (sources: readonly Source[], options: { needsAnother?: () => boolean } = {}) =>
  askInTurn<Source, string>({
    ...options,
    sources,
    penalties,
    clock,
    signal: never,
    ask(source, signal) {
      asked.push(`${source.name} ${clock.monotonicMs()}`)
      return source.answer(signal)
    },
  })
const penalized = (sources: readonly Source[]) =>
  sources.filter(penalties.isPenalized).map(({ name }) => name)

it('asks one source while it answers in time', async () => {
  const sources = sourcesOf({ a: after(149), b: proven })
  const found = turn(sources)
  await clock.advance(149)
  expect((await found)?.source.name).toBe('a')
  expect([asked, penalized(sources)]).toEqual([['a 0'], []])
})

it('asks another one after each 150 ms of silence; those that hang lose their place', async () => {
  const sources = sourcesOf({ a: hangs, b: hangs, c: proven, d: proven })
  const found = turn(sources)
  await clock.advance(1000)
  expect(await found).toMatchObject({ source: { name: 'c' }, answer: 'yes' })
  expect([asked, penalized(sources)]).toEqual([
    ['a 0', 'b 150', 'c 300'],
    ['a', 'b'],
  ])
  asked.length = 0
  await turn(sources)
  expect(asked).toEqual(['c 1000'])
  await clock.advance(60_000)
  expect(penalized(sources)).toEqual([])
})

it('a slow source that still answers first keeps its place, and so does the one that was asked later', async () => {
  const sources = sourcesOf({ a: after(400), b: after(400) })
  const found = turn(sources)
  await clock.advance(400)
  expect((await found)?.source.name).toBe('a')
  expect(penalized(sources)).toEqual([])
})

it.each([
  ['rejects', fails, ['a']],
  ['cannot answer', says('unable'), []],
  ['is contradicted', says('doubtful'), ['a']],
] as const)('asks the next source at once after one that %s', async (_, answer, lost) => {
  const sources = sourcesOf({ a: answer, b: proven })
  expect((await turn(sources))?.source.name).toBe('b')
  expect([asked, penalized(sources)]).toEqual([['a 0', 'b 0'], lost])
})

it('without a proven answer nothing that could be right costs a place', async () => {
  const sources = sourcesOf({ a: says('doubtful'), b: fails, c: says('unable') })
  expect(await turn(sources)).toBeNull()
  expect(penalized(sources)).toEqual(['b'])
  expect(await turn([])).toBeNull()
})

it('asks no further source while none is needed, and rejects when its caller leaves', async () => {
  const sources = sourcesOf({ a: hangs, b: proven })
  let needsAnother = false
  const found = turn(sources, { needsAnother: () => needsAnother })
  await clock.advance(1000)
  expect(asked).toEqual(['a 0'])
  needsAnother = true
  await clock.advance(150)
  expect((await found)?.source.name).toBe('b')
  const caller = new AbortController()
  const left = askInTurn<Source, string>({
    sources: sourcesOf({ a: hangs }),
    penalties,
    clock,
    signal: caller.signal,
    ask: (source, signal) => source.answer(signal),
  })
  caller.abort(new Error('left'))
  await expect(left).rejects.toThrow('left')
})
