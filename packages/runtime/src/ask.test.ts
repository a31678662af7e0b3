/** A server that begins to answer and stops: what ends the request is its timeout alone. */
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { TIMEOUT } from '@quorumscan/errors/node-words'
import { serve, untilTrue } from '@quorumscan/testkit'
import { expect, it } from 'vitest'
import { ask } from './ask.ts'

const REQUESTS = 20

it('times out if the rest of an answer never comes, even after garbage collection', async () => {
  setFlagsFromString('--expose-gc')
  const gc = runInNewContext('gc') as () => void
  await using server = await serve((_, response) => void response.writeHead(200).write('{'))
  const { signal } = new AbortController()
  const reasons: unknown[] = []
  for (let index = 0; index < REQUESTS; index++)
    void ask(server.url, { timeoutMs: 200, ...(index % 2 === 0 ? { signal } : {}) }).then(
      ({ reason }) => reasons.push(reason),
    )
  await untilTrue('all to have ended', () => {
    gc()
    return reasons.length === REQUESTS
  })
  expect(new Set(reasons)).toEqual(new Set([TIMEOUT]))
})
