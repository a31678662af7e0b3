import { expect, it } from 'vitest'
import { createSpliceScan } from './splice-scan.ts'

const NAME = 'alice.unverified.cns'
const scans = Array.from({ length: 13 }, (_, index) => ({
  svName: `sv-${index}`,
  publicUrl: `https://scan.sv-${index}.example.com`,
}))
const fetch = async () =>
  new Response(JSON.stringify({ error: `No ans entry found for name: ${NAME}` }), { status: 404 })

// Node 20 warns at the eleventh listener of one signal.
it('reads 13 scans, and 20 names at once with one signal, without a warning of a leak', async () => {
  const warnings: string[] = []
  const onWarning = ({ name, message }: Error) => warnings.push(`${name}: ${message}`)
  process.on('warning', onWarning)
  await using scan = createSpliceScan({ scans, svCount: scans.length, fetch })
  const { signal } = new AbortController()
  expect(await scan.names.resolve(NAME, { threshold: 13 })).toBeNull()
  const reads = Array.from({ length: 20 }, () => scan.names.resolve(NAME, { signal }))
  expect(await Promise.all(reads)).toEqual(reads.map(() => null))
  // Node reports warnings in a tick of their own.
  await new Promise((resolve) => setImmediate(resolve))
  process.off('warning', onWarning)
  expect(warnings).toEqual([])
})
