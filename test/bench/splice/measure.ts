/** Compares a voted read of thirteen scans with plain requests to the same scans at the same time. */
import { createSystemClock, median } from '@quorumscan/base'
import { createSpliceScan } from '@quorumscan/sdk/splice'
import { idOf, partyOf, type RunningScans, startScans } from '@quorumscan/testkit/splice-scans'
import { atMost, print, printRow, round } from '../report.ts'

export type SpliceOptions = { readonly readCount: number }

const NODE_COUNT = 13
const FAULTY_MAX = 4
/** Latency of the fastest scan, and the step to each next one, as within a continent. */
const [LATENCY_MS, STEP_MS] = [40, 4]
const NAME = 'alice.unverified.cns'
const PATH = `/api/scan/v0/ans-entries/by-name/${NAME}`

const clock = createSystemClock()

export async function measureSplice({ readCount }: SpliceOptions): Promise<void> {
  const svNames = Array.from({ length: NODE_COUNT }, (_, index) => `SV-${index + 1}`)
  await using scans = await startScans({
    svNames,
    entries: [
      { contract_id: idOf(NAME), user: partyOf('a'), name: NAME, url: '', description: '' },
    ],
  })
  for (const [index, name] of svNames.entries())
    scans.behave(name, (_, honest) => ({ ...honest, afterMs: LATENCY_MS + index * STEP_MS }))
  await using scan = createSpliceScan({ seeds: scans.urls.slice(0, 4) })
  await scan.names.resolve(NAME)
  await report('all honest', { scans, readCount, read: () => scan.names.resolve(NAME) })

  // The fastest scan lies and the second one hangs, so that a read needs the next two.
  scans.behave('SV-1', (_, honest) => ({
    ...honest,
    text: honest.text.replaceAll(partyOf('a'), partyOf('b')),
  }))
  scans.behave('SV-2', () => null)
  const honest = scans.urls.slice(2)
  await report('one lying at once, one hung; ÷ honest ones', {
    scans: { ...scans, urls: honest },
    readCount,
    read: () => scan.names.resolve(NAME),
  })
}

async function report(
  what: string,
  run: {
    readonly scans: Pick<RunningScans, 'urls'>
    readonly readCount: number
    read(): Promise<unknown>
  },
): Promise<void> {
  const reads: number[] = []
  /** Times by rank, the fastest first. */
  const plain: number[][] = run.scans.urls.map(() => [])
  for (let count = 0; count < run.readCount; count++) {
    reads.push(await msOf(run.read))
    const times = await Promise.all(
      run.scans.urls.map((url) => msOf(async () => (await fetch(url + PATH)).text())),
    )
    times.sort((a, b) => a - b)
    for (const [place, ms] of times.entries()) plain[place]?.push(ms)
  }
  const secondSlowest = plain[FAULTY_MAX - 1] ?? []
  const slowest = plain[FAULTY_MAX] ?? []
  const over = (times: readonly number[]) => reads.map((ms, turn) => ms / (times[turn] ?? 0))
  print(
    `${what}: read ${round(median(reads))} ms, quickest five to ${round(median(secondSlowest))}, ${round(median(slowest))}`,
  )
  printRow({
    what: `${what}: read of 13 scans ÷ second slowest of the f+1 quickest`,
    values: over(secondSlowest),
    budget: atMost(1.2),
  })
  printRow({
    what: `${what}: read of 13 scans ÷ slowest of the f+1 quickest`,
    values: over(slowest),
    budget: null,
  })
}

async function msOf(run: () => Promise<unknown>): Promise<number> {
  const startedMs = clock.monotonicMs()
  await run()
  return clock.monotonicMs() - startedMs
}
