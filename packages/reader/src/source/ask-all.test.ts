import { expect, it } from 'vitest'
import { askAll } from './ask-all.ts'

function deferred() {
  let resolve = () => {}
  const promise = new Promise<void>((done) => {
    resolve = done
  })
  return { promise, resolve }
}

/** `answer` ends the request of a source, `wait` the 150 ms. The names that are silent at the end, once it has come. */
function start(names: readonly string[], needed: number) {
  const requests = new Map(names.map((name) => [name, deferred()]))
  const late = deferred()
  const asked: string[] = []
  let answerCount = 0
  let silent: string[] | null = null
  const done = askAll({
    sources: names,
    clock: { delay: () => late.promise },
    ask: async (name) => {
      asked.push(name)
      await requests.get(name)?.promise
      answerCount++
    },
    isEnough: () => answerCount >= needed,
  }).then((all) => {
    silent = [...all]
  })
  const settle = () => new Promise((resolve) => setImmediate(resolve))
  return {
    asked,
    done,
    silent: () => silent,
    async answer(name: string) {
      requests.get(name)?.resolve()
      await settle()
    },
    async wait() {
      late.resolve()
      await settle()
    },
  }
}

it('asks all at once, and waits for all within 150 ms although one is enough', async () => {
  const { asked, silent, answer } = start(['a', 'b', 'c'], 1)
  expect(asked).toEqual(['a', 'b', 'c'])
  await answer('c')
  await answer('a')
  expect(silent()).toBeNull()
  await answer('b')
  expect(silent()).toEqual([])
})

it('leaves the silent ones after 150 ms if the others are enough', async () => {
  const { silent, answer, wait } = start(['a', 'b', 'c'], 2)
  await answer('b')
  await answer('c')
  await wait()
  expect(silent()).toEqual(['a'])
  await answer('a')
  expect(silent()).toEqual(['a'])
})

it('waits longer until the answers are enough', async () => {
  const { silent, answer, wait } = start(['a', 'b', 'c'], 2)
  await answer('b')
  await wait()
  expect(silent()).toBeNull()
  await answer('c')
  expect(silent()).toEqual(['a'])
})

it('ends without enough when all have answered, and at once without sources', async () => {
  const { silent, answer, wait } = start(['a', 'b'], 3)
  await wait()
  await answer('a')
  expect(silent()).toBeNull()
  await answer('b')
  expect(silent()).toEqual([])
  const none = start([], 1)
  await none.done
  expect(none.silent()).toEqual([])
})
