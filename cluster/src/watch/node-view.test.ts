/** The details of a node: a small HTTP server, and its log file. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Service } from '@quorumscan/supervisor'
import type { Genesis } from '@quorumscan/verifier'
import { expect, it } from 'vitest'
import { viewNode } from './node-view.ts'

// Looked at only where a certificate is well-formed.
const genesis = {} as Genesis

function serviceAt(url: string, logFile: string): Service {
  return {
    kind: 'scan',
    url,
    app: { id: 'sv-1', logFile },
    redis: { id: 'sv-1.redis', logFile: `${logFile}.none` },
  } as Service
}

it('returns metrics and logs of a process, and refuses documents that are not certificates', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'qs-view-'))
  const logFile = join(directory, 'sv-1.log')
  // Longer than the part that is read, which begins in the middle of a line.
  const lines = Array.from({ length: 200 }, (_, index) => `${index} `.padEnd(500, 'x'))
  writeFileSync(logFile, `${lines.join('\n')}\n`)
  const server = createServer((request, response) => {
    response.end(
      request.url === '/metrics'
        ? '# HELP quorumscan_redis_memory_bytes Memory.\nquorumscan_redis_memory_bytes 1024\n' +
            'quorumscan_redis_memory_max_bytes 7\nquorumscan_disk_free_bytes{disk="a"} 2e9\n'
        : '{"offset":1}',
    )
  })
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve)
  })
  // Listening on TCP, so the address is no text.
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  try {
    const { certificate, store, logs } = await viewNode([serviceAt(url, logFile)], genesis)
    expect(certificate).toEqual({ problem: expect.stringContaining('malformed') })
    expect(store).toEqual({ memoryBytes: 1024, fileBytes: null, diskFreeBytes: 2e9 })
    expect(logs.map(({ process }) => process)).toEqual(['sv-1', 'sv-1.redis'])
    const shown = logs[0]?.lines ?? []
    expect(shown.length).toBeGreaterThan(50)
    expect(shown).toEqual(lines.slice(-shown.length))
    expect(logs[1]?.lines).toEqual([])
  } finally {
    server.close()
    server.closeAllConnections()
    rmSync(directory, { recursive: true })
  }
  const gone = await viewNode([serviceAt(url, logFile)], genesis)
  // By a kept connection, or by a new one.
  expect(gone.certificate).toEqual({ problem: expect.stringMatching(/^re(set|fused)$/) })
  expect(gone.store).toEqual({ memoryBytes: null, fileBytes: null, diskFreeBytes: null })
})
