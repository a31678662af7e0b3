import { once } from 'node:events'
import { connect } from 'node:net'
import { join } from 'node:path'
import { withResolvers } from '@quorumscan/base'
import { createDirectory, untilTrue } from '@quorumscan/testkit'
import type { DeepPartial } from 'cosmjs-types/helpers'
import { Request, Response } from 'cosmjs-types/tendermint/abci/types'
import { expect, it } from 'vitest'
import { serveAbci } from './abci-server.ts'
import type { Application } from './application.ts'
import { createMessageReader, encodeMessage } from './messages.ts'

async function setUp(answer: Application['answer']) {
  const { path: directory, ...temporary } = createDirectory()
  const socketPath = join(directory, 's')
  const problems: unknown[] = []
  const note = (problem: unknown) => problems.push(problem)
  const open = () =>
    serveAbci({ socketPath, application: { answer }, logger: { error: note, warn: note } })
  const server = await open()
  return {
    open,
    socketPath,
    problems,
    /** Sends bytes, and gives all answers until the connection ends, or as many as are wanted. */
    async converse(bytes: Uint8Array, count = Number.POSITIVE_INFINITY) {
      const socket = connect(socketPath)
      await once(socket, 'connect')
      socket.write(bytes)
      const read = createMessageReader()
      const answers: Response[] = []
      for await (const chunk of socket) {
        answers.push(...read(chunk).map((message) => Response.decode(message)))
        if (answers.length >= count) break
      }
      return answers
    },
    async [Symbol.asyncDispose]() {
      await server[Symbol.asyncDispose]()
      temporary[Symbol.dispose]()
    },
  }
}

const asked = (...requests: readonly DeepPartial<Request>[]) =>
  Buffer.concat(
    requests.map((request) => encodeMessage(Request.encode(Request.fromPartial(request)).finish())),
  )
const echo = (message: string) => ({ echo: { message } })

it('answers in the order of the requests, however long one takes', async () => {
  await using abci = await setUp(async ({ echo: said }) => {
    if (said?.message === 'slow') await new Promise((resolve) => setImmediate(resolve))
    return Response.fromPartial({ echo: { message: said?.message ?? '' } })
  })
  const answers = await abci.converse(asked(echo('slow'), echo('quick'), echo('last')), 3)
  expect(answers.map((answer) => answer.echo?.message)).toEqual(['slow', 'quick', 'last'])
  expect(abci.problems).toEqual([])
})

it('sends the engine the reason why it cannot continue, and nothing after it', async () => {
  await using abci = await setUp(async () => {
    throw new Error('another network')
  })
  const answers = await abci.converse(asked(echo('one'), echo('two')))
  expect(answers.map(({ exception }) => exception?.error)).toEqual(['another network'])
  expect(abci.problems).toHaveLength(1)
})

it('reports the end of an engine during a request, which each stop may bring, as no error', async () => {
  const gone = withResolvers<void>()
  await using abci = await setUp(async () => {
    await gone.promise
    return Response.fromPartial({ echo: { message: 'x'.repeat(1_000_000) } })
  })
  const socket = connect(abci.socketPath)
  await once(socket, 'connect')
  // The second one is never read.
  socket.write(asked(echo('one'), echo('two')))
  await untilTrue('the request to arrive', () => socket.bytesWritten > 0)
  socket.destroy()
  await once(socket, 'close')
  gone.resolve()
  await untilTrue('a report', () => abci.problems.length > 0)
  expect(abci.problems).toEqual(["the engine's ABCI connection was lost"])
})

it('reports that it ends with open connections, as at each stop, as no error', async () => {
  const abci = await setUp(async () => Response.fromPartial({ flush: {} }))
  const socket = connect(abci.socketPath)
  socket.write(asked({ flush: {} }))
  await once(socket, 'data')
  socket.on('error', () => {})
  await abci[Symbol.asyncDispose]()
  await untilTrue('a report', () => abci.problems.length > 0)
  expect(abci.problems).toEqual(["the engine's ABCI connection was lost"])
})

it('closes a connection with malformed requests', async () => {
  await using abci = await setUp(async () => Response.fromPartial({ flush: {} }))
  const [answer] = await abci.converse(new Uint8Array(8).fill(0xff))
  expect(answer?.exception?.error).toContain('length')
})

it('replaces the socket of a server that was killed', async () => {
  await using abci = await setUp(async () => Response.fromPartial({ flush: {} }))
  await using _other = await abci.open()
  expect(await abci.converse(asked({ flush: {} }), 1)).toHaveLength(1)
})

it('answers requests about blocks before waiting mempool checks', async () => {
  const CHECKS = 200
  const answered: string[] = []
  let isAsked = false
  await using abci = await setUp(async ({ checkTx }) => {
    answered.push(checkTx === undefined ? 'block' : 'check')
    if (!isAsked) block.write(asked({ commit: {} }))
    isAsked = true
    return Response.fromPartial(checkTx === undefined ? { commit: {} } : { checkTx: {} })
  })
  const block = connect(abci.socketPath)
  await once(block, 'connect')
  const checks = Array.from({ length: CHECKS }, () => ({ checkTx: { tx: new Uint8Array(1) } }))
  await abci.converse(asked(...checks), CHECKS)
  expect(answered.indexOf('block')).toBeLessThan(CHECKS / 2)
  block.destroy()
})
