/**
 * What `closing.ts` and `listener.ts` rely on in Node, although its documentation does not promise it. The long parts
 * `node-22` and `node-24` run these tests on the other versions.
 */
import { type IncomingMessage, Server } from 'node:http'
import { Server as SecureServer } from 'node:https'
import { connect } from 'node:net'
import { listen, serve, untilTrue } from '@quorumscan/testkit'
import { expect, it } from 'vitest'
import { discardInput } from './closing.ts'

it('discarded input is read on after the parser has stopped the socket', async () => {
  const requests: IncomingMessage[] = []
  await using server = await serve((request) => requests.push(request)) // Nothing reads the body.
  const socket = connect(server.port, '127.0.0.1')
  try {
    const body = Buffer.alloc(4 * 1024 * 1024)
    socket.write(`POST / HTTP/1.1\r\nhost: a\r\ncontent-length: ${body.byteLength}\r\n\r\n`)
    await untilTrue('the request to arrive', async () => requests.length > 0)
    const [request] = requests
    if (request === undefined) throw new Error('no request arrived')
    const accepted = request.socket
    socket.write(body)
    await untilTrue('the parser to stop', async () => {
      return request.readableLength >= request.readableHighWaterMark
    })
    discardInput(accepted)
    await untilTrue('the whole body to be read', async () => accepted.bytesRead > body.byteLength)
  } finally {
    socket.destroy()
  }
})

it('the one listener of a new server gives a connection its parser', async () => {
  expect(new SecureServer({}).listeners('secureConnection')).toHaveLength(1)
  const http = new Server((_, response) => response.end('parsed'))
  const listeners = http.listeners('connection')
  expect(listeners).toHaveLength(1)
  await using plain = await listen((socket) => listeners[0]?.call(http, socket))
  const answer = await fetch(`http://127.0.0.1:${plain.port}/`, {
    headers: { connection: 'close' },
  })
  expect(await answer.text()).toBe('parsed')
})

it('a connection ends by `destroySoon` after its last answer', async () => {
  let count = 0
  await using server = await serve(({ socket }, response) => {
    const destroySoon = socket.destroySoon.bind(socket)
    socket.destroySoon = () => {
      count++
      destroySoon()
    }
    response.end('last')
  })
  await (await fetch(server.url, { headers: { connection: 'close' } })).text()
  await untilTrue('the connection to end', async () => count > 0)
  expect(count).toBe(1)
})
