/** A minimal loop: it reads stored elements from Redis in batches, and writes them to a socket. */
import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { Redis } from 'ioredis'
import { answer, childArgument } from '../../support/child.ts'

export type PlainArgument = { readonly socketPath: string; readonly key: string }
export type PlainAnswer = { readonly port: number }

/** Batch size of the validator. */
const BATCH = 500

const { socketPath, key } = childArgument<PlainArgument>()
const redis = new Redis({ path: socketPath })
const server = createServer(async (socket) => {
  socket.on('error', () => {}) // The client has closed the connection.
  await once(socket, 'data')
  for (let after = '-'; ; ) {
    const entries = (await redis.callBuffer('XRANGE', key, after, '+', 'COUNT', BATCH)) as [
      Buffer,
      [Buffer, Buffer],
    ][]
    const last = entries.at(-1)
    if (last === undefined) break
    let isFull = false
    for (const [, [, element]] of entries) isFull = !socket.write(element)
    if (isFull) await once(socket, 'drain')
    after = `(${last[0].toString()}`
  }
  socket.end()
})
server.listen(0, '127.0.0.1', () => {
  answer({ port: (server.address() as AddressInfo).port } satisfies PlainAnswer)
})
