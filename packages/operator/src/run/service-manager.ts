/**
 * Tells systemd what `run` does, by `systemd-notify` (`Type=notify`, `NotifyAccess=all`): Node has no datagrams of unix
 * sockets. With `WatchdogSec`, systemd ends and restarts a `run` that no longer reports.
 */
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { type Clock, type Env, openAll } from '@quorumscan/base'
import { messageOf, repeat } from '@quorumscan/runtime'

/** In the environment of a service; processes that `run` starts must not report in its place. */
const VARIABLES = ['NOTIFY_SOCKET', 'WATCHDOG_USEC', 'WATCHDOG_PID']
const MICROS_PER_MS = 1000
/** Reports in the time that systemd allows without one: two may be late. */
const REPORTS = 3
/** `systemd-notify` waits until systemd has read the message. */
const NOTIFY_MS_MAX = 10_000

/** The environment without the variables by which a service reports. */
export function withoutServiceManager(env: Env): Env {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !VARIABLES.includes(name)))
}

/**
 * Reports that everything was started, and from then on that `run` works; disposing reports that it stops. Does nothing
 * without a service manager. A report that fails is a sentence, once.
 */
export async function reportToServiceManager(options: {
  readonly env: Env
  readonly clock: Clock
  readonly report: (sentence: string) => void
}): Promise<AsyncDisposable> {
  const { env, clock, report } = options
  const { NOTIFY_SOCKET: socket, WATCHDOG_USEC: watchdog, PATH } = env
  let hasFailed = false
  const notify = async (...assignments: readonly string[]): Promise<void> => {
    try {
      await promisify(execFile)('systemd-notify', assignments, {
        env: { PATH, NOTIFY_SOCKET: socket },
        timeout: NOTIFY_MS_MAX,
      })
    } catch (error) {
      if (!hasFailed) report(`systemd could not be told (systemd-notify): ${messageOf(error)}`)
      hasFailed = true
    }
  }
  return openAll(async (resources) => {
    if (!socket) return {}
    resources.onClose(() => notify('STOPPING=1'))
    await notify('READY=1')
    const everyMs = Number(watchdog) / MICROS_PER_MS / REPORTS
    if (everyMs > 0) resources.opened(repeat(() => notify('WATCHDOG=1'), { clock, everyMs }))
    return {}
  })
}
