import { describe, expect, it } from 'vitest'
import { createPartyQueue, OPERATIONS_PER_PARTY_MAX } from './party-queue.ts'

const forever = new AbortController().signal

function gate() {
  let open = () => {}
  const opened = new Promise<void>((resolve) => {
    open = resolve
  })
  return { open, opened }
}

describe('a party queue', () => {
  it('runs the work of one party in turn, and that of another party concurrently', async () => {
    const queue = createPartyQueue()
    const first = gate()
    const seen: string[] = []
    const work = (name: string, until?: Promise<void>) => async () => {
      seen.push(`${name} starts`)
      await until
      seen.push(`${name} ends`)
    }
    const a1 = queue.run('a', forever, work('a1', first.opened))
    const a2 = queue.run('a', forever, work('a2'))
    await queue.run('b', forever, work('b1'))
    first.open()
    await Promise.all([a1, a2])
    expect(seen).toEqual(['a1 starts', 'b1 starts', 'b1 ends', 'a1 ends', 'a2 starts', 'a2 ends'])
  })

  it('continues after a failure, which only its own caller sees', async () => {
    const queue = createPartyQueue()
    const failing = queue.run('a', forever, () => Promise.reject(new Error('no')))
    const next = queue.run('a', forever, () => Promise.resolve('yes'))
    await expect(failing).rejects.toThrow('no')
    expect(await next).toBe('yes')
  })

  it('never starts what was aborted while it waited', async () => {
    const queue = createPartyQueue()
    const first = gate()
    const running = queue.run('a', forever, () => first.opened)
    const controller = new AbortController()
    let hasStarted = false
    const waiting = queue.run('a', controller.signal, async () => {
      hasStarted = true
    })
    controller.abort(new Error('the client left'))
    first.open()
    await running
    await expect(waiting).rejects.toThrow('the client left')
    expect(hasStarted).toBe(false)
  })

  it('refuses more than its bound, and takes new work when there is room again', async () => {
    const queue = createPartyQueue()
    const first = gate()
    const accepted = Array.from({ length: OPERATIONS_PER_PARTY_MAX }, () =>
      queue.run('a', forever, () => first.opened),
    )
    await expect(queue.run('a', forever, () => Promise.resolve())).rejects.toMatchObject({
      code: 'OVERLOADED',
    })
    first.open()
    await Promise.all(accepted)
    expect(await queue.run('a', forever, () => Promise.resolve(1))).toBe(1)
  })
})
