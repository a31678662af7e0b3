/** What processes hold, as their metrics report it to an operator. */
import { send } from '@quorumscan/testkit'

/** The numbers of one process by what it holds. */
export type Holdings = ReadonlyMap<string, number>

export type Holder = {
  readonly name: string
  /** Where its metrics are. */
  readonly url: string
  readonly token?: string
}

/** Series whose number returns once clients have left: of work, of Node.js, and of the system. */
const RETURNING =
  /^(quorumscan_held\{.*kind="work".*\}|nodejs_active_resources\{.*\}|process_open_fds) ([0-9]+)$/gm

export async function holdingsOf({ url, token }: Holder): Promise<Holdings> {
  const headers: Record<string, string> =
    token === undefined ? {} : { authorization: `Bearer ${token}` }
  const { text } = await send(`${url}/metrics`, { headers: { ...headers, connection: 'close' } })
  return new Map(
    [...text.matchAll(RETURNING)].map(([, series = '', value]) => [series, Number(value)]),
  )
}

/** For each series the largest number of the samples. */
export function largest(samples: readonly Holdings[]): Holdings {
  const result = new Map<string, number>()
  for (const sample of samples)
    for (const [series, value] of sample)
      result.set(series, Math.max(value, result.get(series) ?? 0))
  return result
}

/** A row for each series that is larger than before. */
export function grown(name: string, before: Holdings, after: Holdings): readonly string[] {
  return [...after].flatMap(([series, value]) => {
    const was = before.get(series) ?? 0
    return value > was ? [`${name}: ${series} ${was} -> ${value}`] : []
  })
}
