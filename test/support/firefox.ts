/** The Firefox of browser tests: $FIREFOX, or the first on the PATH. It is driven by WebDriver BiDi. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { createDirectory, required } from '@quorumscan/testkit'
import { WebSocket } from 'undici'

const ADDRESS = /WebDriver BiDi listening on (ws:\S+)/

type Reply = {
  readonly id?: number
  readonly type: string
  readonly message?: string
  readonly result?: unknown
}

/** Opens a page in a new profile. Disposing ends the browser. The test is skipped if Firefox is missing. */
export async function openInFirefox(url: string) {
  const program = required('firefox')
  const profile = createDirectory()
  const browser = spawn(
    program,
    ['--headless', '--no-remote', '--remote-debugging-port', '0', '--profile', profile.path],
    { stdio: ['ignore', 'ignore', 'pipe'], env: { ...process.env, HOME: profile.path } },
  )
  const exited = once(browser, 'exit')
  const end = async () => {
    browser.kill()
    await exited
    profile[Symbol.dispose]()
  }
  try {
    const socket = new WebSocket(`${await addressOf(createInterface(browser.stderr))}/session`)
    await once(socket, 'open')
    const call = createCalls(socket)
    await call('session.new', { capabilities: {} })
    const { contexts } = (await call('browsingContext.getTree', {})) as {
      readonly contexts: readonly [{ readonly context: string }]
    }
    const [{ context }] = contexts
    await call('browsingContext.navigate', { context, url, wait: 'complete' })
    return {
      /** The text that an expression has, or its promise. */
      async evaluate(expression: string): Promise<string> {
        const target = { context }
        const asked = { expression, target, awaitPromise: true }
        const answer = (await call('script.evaluate', asked)) as {
          readonly result?: { readonly value?: string }
          readonly exceptionDetails?: { readonly text: string }
        }
        if (answer.exceptionDetails !== undefined) throw new Error(answer.exceptionDetails.text)
        return String(answer.result?.value)
      },
      [Symbol.asyncDispose]: end,
    }
  } catch (error) {
    await end()
    throw error
  }
}

async function addressOf(lines: AsyncIterable<string>): Promise<string> {
  for await (const line of lines) {
    const [, address] = ADDRESS.exec(line) ?? []
    if (address !== undefined) return address
  }
  throw new Error('Firefox ended before it listened')
}

function createCalls(socket: WebSocket) {
  const waiting = new Map<number, (reply: Reply) => void>()
  let count = 0
  socket.addEventListener('message', ({ data }) => {
    const reply = JSON.parse(String(data)) as Reply
    waiting.get(reply.id ?? -1)?.(reply)
  })
  return async (method: string, params: object): Promise<unknown> => {
    const id = ++count
    const replied = new Promise<Reply>((resolve) => waiting.set(id, resolve))
    socket.send(JSON.stringify({ id, method, params }))
    const { type, message, result } = await replied
    if (type === 'error') throw new Error(`${method}: ${message}`)
    return result
  }
}
