/** Type checks: one program compiles against both clients, `createSpliceScan` and `createScan`. */
import { createScan } from '@quorumscan/sdk'
import {
  createSpliceScan,
  type Listed,
  type NameEntry,
  type SpliceOutcome,
  type SpliceScanOptions,
} from '@quorumscan/sdk/splice'

const network = { name: 'main', seeds: ['https://scan.example.com'], genesis: 'ab'.repeat(32) }

/** The same calls compile with both functions. */
async function readAll(create: typeof createSpliceScan | typeof createScan): Promise<string[]> {
  const scan = create(network)
  const party: string | null = await scan.names.resolve('alice', { timeoutMs: 2_000 })
  const name: NameEntry | null = await scan.names.reverse('alice::1220')
  const found: Listed<NameEntry>[] = []
  for await (const entry of scan.names.search('al', { pageSize: 10 })) found.push(entry)
  for await (const { eventId } of scan.activities({ order: 'desc', pageSize: 10 }))
    found.length &&= eventId.length
  await scan.close()
  return [party ?? '', name?.name ?? '', ...found.map(({ expiresAt }) => expiresAt ?? 'never')]
}
export const both = [() => readAll(createScan), () => readAll(createSpliceScan)]

export function describeSplice(outcome: SpliceOutcome<NameEntry>): string {
  switch (outcome.kind) {
    case 'proven':
      return `${outcome.value?.party ?? 'absent'} ${outcome.agreed.length} of ${outcome.nodeCount}`
    case 'failed': {
      const { error } = outcome
      return error.code === 'NOT_ENOUGH_NODES' ? `${error.details?.outcome.kind}` : error.message
    }
  }
}

// @ts-expect-error Outcomes have the vocabulary of `Shown`.
export const isVerified = (outcome: SpliceOutcome<NameEntry>) => outcome.kind === 'verified'
export const chosen: SpliceScanOptions = {
  scans: [{ svName: 'SV-1', publicUrl: 'https://scan.example.com' }],
  svCount: 13,
  threshold: '2f+1',
}
