import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { createManualClock, freePort, listen, untilTrue } from '@quorumscan/testkit'
import { expect, it } from 'vitest'
import { acceptForEngine } from './engine-acceptor.ts'

const HOST = '127.0.0.1'
const ATTACKER = '127.0.0.66'
const PENDING_PER_ADDRESS = 16
/** More than the engine sends in a handshake. */
const ADMISSION = new Uint8Array(4000)

/** The acceptor, and a fake engine that admits peers that send `member`. */
async function setUp() {
  const clock = createManualClock(0)
  const address = `${HOST}:${await freePort()}`
  const acceptor = await acceptForEngine({ address, clock })
  const [, enginePort] = (await acceptor.nextEngineAddress()).split(':')
  /** The port from which each connection reaches the engine. */
  const ports: number[] = []
  const engine = await listen(
    (socket) => {
      ports.push(socket.remotePort ?? 0)
      socket.on('data', (data) => void socket.write(String(data) === 'member' ? ADMISSION : data))
    },
    { at: Number(enginePort) },
  )
  const sockets: Socket[] = []
  return {
    clock,
    acceptor,
    ports,
    async open(localAddress: string): Promise<Socket> {
      const socket = connect({ host: HOST, port: Number(address.split(':')[1]), localAddress })
      sockets.push(socket)
      socket.on('error', () => {}) // The close that follows counts.
      await once(socket, 'connect')
      return socket
    },
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy()
      await acceptor[Symbol.asyncDispose]()
      await engine[Symbol.asyncDispose]()
    },
  }
}

/** Sends the word, and waits until the engine has answered in full. */
async function handshake(socket: Socket, word: string): Promise<number> {
  let bytes = 0
  socket.on('data', (data) => {
    bytes += data.byteLength
  })
  socket.write(word)
  const expected = word === 'member' ? ADMISSION.byteLength : word.length
  await untilTrue('the answer of the engine', () => bytes >= expected)
  return bytes
}

it('passes bytes both ways, and the end of a connection', async () => {
  await using world = await setUp()
  const socket = await world.open(HOST)
  expect(await handshake(socket, 'hello')).toBe('hello'.length)
  socket.end()
  await once(socket, 'close')
})

it('closes the connection that the engine names by its port, and no other', async () => {
  await using world = await setUp()
  const [first, second] = [await world.open(HOST), await world.open(HOST)]
  await handshake(first, 'member')
  await handshake(second, 'member')
  const closed = Promise.race([first, second].map((socket) => once(socket, 'close')))
  world.acceptor.disconnect(world.ports[0] ?? 0)
  await closed
  expect([first.closed, second.closed].filter(Boolean)).toHaveLength(1)
})

it('limits pending connections of an address, but not admitted ones', async () => {
  await using world = await setUp()
  const member = await world.open(ATTACKER)
  await handshake(member, 'member')
  const idle: Socket[] = []
  for (let count = 0; count < 3 * PENDING_PER_ADDRESS; count++)
    idle.push((await world.open(ATTACKER)).resume())
  await untilTrue(
    'the oldest to be closed',
    () => idle.filter(({ closed }) => !closed).length === PENDING_PER_ADDRESS,
  )
  expect(idle.slice(-PENDING_PER_ADDRESS).every(({ closed }) => !closed)).toBe(true)
  expect(member.closed).toBe(false)
  // Another address is served at once.
  await handshake(await world.open(HOST), 'member')
})

it('closes a connection that the engine has not admitted in time, and no other', async () => {
  await using world = await setUp()
  const [member, stranger] = [await world.open(HOST), await world.open(HOST)]
  await handshake(member, 'member')
  await handshake(stranger, 'stranger')
  const closed = once(stranger, 'close')
  await world.clock.advance(12_000)
  await closed
  expect(member.closed).toBe(false)
})
