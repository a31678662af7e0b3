/** The memory of other processes of this machine, by their inspectors. */
import { send, until } from '@quorumscan/testkit'
import { WebSocket } from 'undici'

/** Where a process listens for its inspector after SIGUSR1. */
const INSPECTOR = 'http://127.0.0.1:9229/json/list'
/** Closes the inspector when the answer is sent. */
const CLOSE = "setTimeout(() => process.getBuiltinModule('inspector').close(), 100)"

/** Bytes of the heap of a process after a forced collection. One process at a time: they have one port. */
export async function heapBytesOf(pid: number): Promise<number> {
  const { usedSize = 0 } = (await inspect(pid, ({ call }) => call('Runtime.getHeapUsage'))) as {
    readonly usedSize?: number
  }
  return usedSize
}

/** Kinds of nodes of a snapshot that grow as code is compiled, and not with what a program keeps. */
const OF_CODE = ['code', 'hidden', 'object shape', 'synthetic']

/** Bytes of the objects of a process after a forced collection, by kind and constructor, without compiled code. */
export async function objectBytesOf(pid: number): Promise<ReadonlyMap<string, number>> {
  const chunks: string[] = []
  await inspect(pid, async ({ call, onEvent }) => {
    onEvent('HeapProfiler.addHeapSnapshotChunk', ({ chunk }) => chunks.push(String(chunk)))
    return await call('HeapProfiler.takeHeapSnapshot', { reportProgress: false })
  })
  const { snapshot, nodes, strings } = JSON.parse(chunks.join('')) as {
    readonly snapshot: {
      readonly meta: {
        readonly node_fields: readonly string[]
        readonly node_types: readonly (readonly string[])[]
      }
    }
    readonly nodes: readonly number[]
    readonly strings: readonly string[]
  }
  const { node_fields: fields, node_types: types } = snapshot.meta
  const [type, name, size] = ['type', 'name', 'self_size'].map((field) => fields.indexOf(field))
  const bytes = new Map<string, number>()
  for (let node = 0; node < nodes.length; node += fields.length) {
    const at = (field = 0) => nodes[node + field] ?? 0
    const kind = types[0]?.[at(type)] ?? ''
    if (OF_CODE.includes(kind)) continue
    const key = kind === 'object' ? `object ${strings[at(name)]}` : kind
    bytes.set(key, (bytes.get(key) ?? 0) + at(size))
  }
  return bytes
}

type Session = {
  readonly call: (method: string, params?: object) => Promise<object>
  readonly onEvent: (
    method: string,
    use: (params: Readonly<Record<string, unknown>>) => void,
  ) => void
}

/** Collects garbage of a process, and asks its inspector. */
async function inspect(pid: number, ask: (session: Session) => Promise<object>): Promise<object> {
  process.kill(pid, 'SIGUSR1')
  const url = await until('the inspector of the process', async () => {
    const [found] = (await send(INSPECTOR).catch(() => null))?.body ?? []
    return found?.webSocketDebuggerUrl as string | undefined
  })
  const socket = new WebSocket(url)
  await new Promise((resolve) => socket.addEventListener('open', resolve))
  const onMessage = (use: (message: Record<string, never>) => void) =>
    socket.addEventListener('message', ({ data }) => use(JSON.parse(String(data))))
  let id = 0
  const session: Session = {
    call: (method, params = {}) =>
      new Promise((resolve) => {
        const own = ++id
        onMessage((message) => {
          if (message['id'] === own) resolve(message['result'] ?? {})
        })
        socket.send(JSON.stringify({ id: own, method, params }))
      }),
    onEvent: (method, use) =>
      onMessage((message) => {
        if (message['method'] === method) use(message['params'] ?? {})
      }),
  }
  for (let round = 0; round < 3; round++) await session.call('HeapProfiler.collectGarbage')
  const answer = await ask(session)
  await session.call('Runtime.evaluate', { expression: CLOSE })
  socket.close()
  await until('the inspector to close', async () =>
    (await send(INSPECTOR).catch(() => null)) === null ? true : undefined,
  )
  return answer
}
