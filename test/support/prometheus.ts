/** A real Prometheus with the configuration and the alerts that are shipped. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { required, send } from '@quorumscan/testkit'
import type { Machine } from './machines.ts'

type Labels = Readonly<Record<string, string>>
export type Alert = {
  readonly labels: Labels
  readonly annotations: Labels
  readonly state: 'pending' | 'firing'
}

export type Prometheus = ReturnType<typeof startPrometheus>

/** Where it runs: on the machine of an operator, or on this one. */
type Place = Pick<Machine, 'directory' | 'address' | 'anyAddress'> & {
  readonly start: (command: string, ...args: readonly string[]) => ChildProcess
}

export const onMachine = (machine: Machine): Place => ({
  ...machine,
  start: (command, ...args) => machine.start({ stdio: 'ignore' }, command, ...args),
})

export const onThisMachine = (directory: string): Place => ({
  directory,
  address: '127.0.0.1',
  anyAddress: '127.0.0.1',
  start: (command, ...args) => spawn(command, args, { stdio: 'ignore' }),
})

/** @param configFile - An absolute path. */
export function startPrometheus(place: Place, configFile: string, port = 9090) {
  const running = place.start(
    required('prometheus'),
    `--config.file=${configFile}`,
    `--storage.tsdb.path=${join(place.directory, 'prometheus')}`,
    `--web.listen-address=${place.anyAddress}:${port}`,
  )
  const ask = async (path: string) => {
    const { status, body } = await send(`http://${place.address}:${port}/api/v1/${path}`)
    if (status !== 200) throw new Error(`${path}: ${JSON.stringify(body)}`)
    return body.data
  }
  return {
    /** Alerts that are pending or firing; null while it does not answer. */
    alerts: async (): Promise<readonly Alert[] | null> =>
      (await ask('alerts').catch(() => null))?.alerts ?? null,
    /** The labels of the series that an expression finds now; none while it does not answer. */
    async series(expression: string): Promise<readonly Labels[]> {
      const answer = await ask(`query?query=${encodeURIComponent(expression)}`).catch(() => null)
      return (answer?.result ?? []).map(({ metric }: { metric: Labels }) => metric)
    },
    /** When alerts fired, in seconds since 1970, with a resolution of a second. */
    async firings(fromSeconds: number, toSeconds: number) {
      const query = encodeURIComponent('ALERTS{alertstate="firing"}')
      const range = `start=${fromSeconds}&end=${toSeconds}&step=1`
      const { result } = await ask(`query_range?query=${query}&${range}`)
      return (result as { metric: Labels; values: [number, string][] }[]).map(
        ({ metric, values }) => ({ labels: metric, seconds: values.map(([second]) => second) }),
      )
    },
    async [Symbol.asyncDispose]() {
      if (running.exitCode !== null || running.signalCode !== null) return
      running.kill('SIGTERM')
      await once(running, 'exit')
    },
  }
}
