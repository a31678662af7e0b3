/** Bounds interim answers (1xx) of the platform's `fetch` in Node.js, which parses any number of them. */

/** A server sends one or two for each request. */
const INTERIM_MAX = 16

type Handler = Readonly<Record<string, unknown>>
export type Dispatcher = { dispatch(options: unknown, handler: Handler): boolean }

/** The dispatcher, which gives up a request with more interim answers: they would keep the event loop busy. */
export function withInterimBound(given: Dispatcher): Dispatcher {
  return { dispatch: (options, handler) => given.dispatch(options, bounded(handler)) }
}

/** Of both interfaces of handlers: that of undici 6 and earlier, and that of 7 and later. */
function bounded(handler: Handler): Handler {
  let count = 0
  let abort: (reason: Error) => void = () => {}
  return new Proxy(handler, {
    get(target, name) {
      const member = target[name as string]
      if (typeof member !== 'function') return member
      return (...input: unknown[]) => {
        const [first, second] = input
        if (name === 'onConnect') abort = first as typeof abort
        if (name === 'onRequestStart') {
          const controller = first as { abort(reason: Error): void }
          abort = (reason) => controller.abort(reason)
        }
        const status = name === 'onHeaders' ? first : name === 'onResponseStart' ? second : 200
        if ((status as number) < 200 && ++count > INTERIM_MAX) {
          abort(new Error('too many interim answers'))
          return true
        }
        return Reflect.apply(member, target, input)
      }
    },
  })
}
