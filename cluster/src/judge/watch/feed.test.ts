import { expect, it } from 'vitest'
import { createFeed } from './feed.ts'

it('sends each listener all items while it listens, and stores the latest', async () => {
  const feed = createFeed<number>(2)
  const ending = new AbortController()
  const received: number[] = []
  const listening = (async () => {
    for await (const item of feed.follow(ending.signal)) {
      received.push(item)
      if (item === 3) ending.abort()
    }
  })()
  for (const item of [1, 2, 3]) feed.publish(item)
  await listening
  expect(received).toEqual([1, 2, 3])
  expect(feed.recent()).toEqual([2, 3])
  feed.publish(4)
  expect(received).toHaveLength(3)
})
