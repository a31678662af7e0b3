/** Closing what was opened. */
import { expect, it } from 'vitest'
import { openAll, type Resources } from './resources.ts'

function openThree(resources: Resources, failing: readonly number[]) {
  const closed: number[] = []
  for (const number of [1, 2, 3])
    resources.onClose(() => {
      closed.push(number)
      if (failing.includes(number)) throw new Error(`${number} does not close`)
    })
  return closed
}

it.each([
  [[3], '3 does not close'],
  [[2, 3], '2 errors on closing'],
])('all are closed in the opposite order, even if closing %j fails', async (failing, message) => {
  const opened = await openAll(async (resources) => ({ closed: openThree(resources, failing) }))
  await expect(opened[Symbol.asyncDispose]()).rejects.toThrow(message)
  expect(opened.closed).toEqual([3, 2, 1])
})

it('if opening fails, opened resources are closed, and the opening error is thrown', async () => {
  let closed: number[] = []
  const opening = openAll(async (resources) => {
    closed = openThree(resources, [3])
    throw new Error('the fourth does not open')
  })
  await expect(opening).rejects.toThrow('the fourth does not open')
  expect(closed).toEqual([3, 2, 1])
})
