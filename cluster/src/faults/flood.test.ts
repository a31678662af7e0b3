import type { Socket } from 'node:net'
import { listen, untilTrue } from '@quorumscan/testkit'
import { expect, it, onTestFinished } from 'vitest'
import { isFlooded, startFlood, stopFlood } from './flood.ts'
import { STRANGE_ADDRESSES } from './strangers.ts'

it('sends requests from many connections and addresses until it is stopped, and reads no more than it must', async () => {
  const sockets = new Set<Socket>()
  const addresses = new Set<string>()
  let requestCount = 0
  const node = await listen((socket) => {
    sockets.add(socket)
    addresses.add(socket.remoteAddress?.replace('::ffff:', '') ?? '')
    socket.on('error', () => {})
    socket.on('close', () => sockets.delete(socket))
    socket.on('data', (data) => {
      requestCount += String(data).match(/GET \/v0\/ans-entries\/by-name\/flood-\d+/g)?.length ?? 0
    })
  })
  onTestFinished(() => node[Symbol.asyncDispose]())
  const url = `http://127.0.0.1:${node.port}`
  expect(isFlooded(url)).toBe(false)
  startFlood(url, 5000)
  onTestFinished(() => stopFlood(url))
  await untilTrue('a flood', () => requestCount > 500 && sockets.size > 16)
  if (STRANGE_ADDRESSES !== null)
    expect([addresses.size, addresses.has('127.0.0.1')]).toEqual([8, false])
  expect([isFlooded(url), sockets.size <= 32]).toEqual([true, true])
  stopFlood(url)
  await untilTrue('its end', () => sockets.size === 0)
  expect(isFlooded(url)).toBe(false)
})

it('opens a connection again that the node closes', async () => {
  let connectionCount = 0
  const node = await listen((socket) => {
    connectionCount++
    socket.on('error', () => {})
    socket.destroy()
  })
  onTestFinished(() => node[Symbol.asyncDispose]())
  const url = `http://127.0.0.1:${node.port}`
  startFlood(url, 1000)
  onTestFinished(() => stopFlood(url))
  await untilTrue('new connections', () => connectionCount > 64)
})
