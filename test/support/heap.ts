/** The memory of other processes of this machine, by their inspectors. */
import { send, until } from '@quorumscan/testkit'
import { WebSocket } from 'undici'

/** Where a process listens for its inspector after SIGUSR1. */
const INSPECTOR = 'http://127.0.0.1:9229/json/list'
/** Closes the inspector when the answer is sent. */
const CLOSE = "setTimeout(() => process.getBuiltinModule('inspector').close(), 100)"

/** The heap of a process after a forced collection. One process at a time: they have one port. */
export async function heapBytesOf(pid: number): Promise<number> {
  process.kill(pid, 'SIGUSR1')
  const url = await until('the inspector of the process', async () => {
    const [found] = (await send(INSPECTOR).catch(() => null))?.body ?? []
    return found?.webSocketDebuggerUrl as string | undefined
  })
  const socket = new WebSocket(url)
  await new Promise((resolve) => socket.addEventListener('open', resolve))
  let id = 0
  const call = (method: string, params: object = {}) =>
    new Promise<{ readonly usedSize?: number }>((resolve) => {
      const own = ++id
      socket.addEventListener('message', ({ data }) => {
        const message = JSON.parse(String(data))
        if (message.id === own) resolve(message.result ?? {})
      })
      socket.send(JSON.stringify({ id: own, method, params }))
    })
  for (let round = 0; round < 3; round++) await call('HeapProfiler.collectGarbage')
  const { usedSize = 0 } = await call('Runtime.getHeapUsage')
  await call('Runtime.evaluate', { expression: CLOSE })
  socket.close()
  await until('the inspector to close', async () =>
    (await send(INSPECTOR).catch(() => null)) === null ? true : undefined,
  )
  return usedSize
}
