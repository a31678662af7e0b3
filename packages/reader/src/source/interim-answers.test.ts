/** Interim answers, from a process of their own: without an end they arrive as fast as the machine allows. */
import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import { expect, it, onTestFinished } from 'vitest'
import { createFetchTransport } from './fetch-transport.ts'

const INTERIM = 'HTTP/1.1 103 Early Hints\r\nlink: </a>; rel=preload\r\n\r\n'
const SERVER = `
const { parentPort, workerData } = require('node:worker_threads')
const chunk = Buffer.from(workerData.text)
const server = require('node:net').createServer((socket) => {
  const write = () => {
    do if (!socket.write(chunk)) return
    while (workerData.isEndless && !socket.destroyed)
  }
  socket.on('error', () => {}).once('data', () => {
    if (workerData.isEndless) socket.on('drain', write)
    write()
  })
}).listen(0, '127.0.0.1', () => parentPort.postMessage({ port: server.address().port }))
`
const request = {
  method: 'GET',
  path: '/x',
  headers: {},
  body: null,
  bytesMax: 1000,
  channel: 'lookup',
  isPublicOnly: false,
  signal: new AbortController().signal,
} as const

async function serve(workerData: { readonly text: string; readonly isEndless: boolean }) {
  const worker = new Worker(SERVER, { eval: true, workerData })
  onTestFinished(async () => void (await worker.terminate()))
  const [{ port }] = await once(worker, 'message')
  return `http://127.0.0.1:${port}`
}

it('a server that sends interim answers without an end is given up at once', async () => {
  const url = await serve({ text: INTERIM.repeat(4000), isEndless: true })
  await expect(createFetchTransport().request({ ...request, url })).rejects.toMatchObject({
    cause: { message: 'too many interim answers' },
  })
})

it('some interim answers precede an answer', async () => {
  const answer = 'HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\nbody'
  const url = await serve({ text: `${INTERIM.repeat(3)}${answer}`, isEndless: false })
  const reply = await createFetchTransport().request({ ...request, url })
  expect([reply.status, Buffer.from(reply.body).toString()]).toEqual([200, 'body'])
})
