/** Whether the validator does its work, what its replica has applied, and how the scan nodes answer it. */
import { utf8 } from '@quorumscan/base'
import { ScanError } from '@quorumscan/errors'
import { createHealthHandlers } from '@quorumscan/server'
import type { ValidatorParts } from './parts.ts'

type Health = ReturnType<typeof createHealthHandlers>
type ReaderStatus = ReturnType<NonNullable<Parameters<typeof createHealthHandlers>[1]['reader']>>

/**
 * @param port - Returns the port listened on.
 * @param prefix - Of the mount point that is not the root.
 */
export function healthHandlers(
  parts: Pick<ValidatorParts, 'app' | 'follower' | 'readers' | 'submission' | 'assertReady'>,
  port: () => number,
  prefix: string,
): Health {
  const { name, clock, metrics, certificates } = parts.app
  const { clocks, logDisk, members, memory, replica, state } = parts.follower
  const { privateNodes, reader } = parts.readers
  const { secondMachine } = parts.submission
  const ofProcess = { name, clock, clocks, certificates, metrics }
  const health = createHealthHandlers(ofProcess, {
    port,
    assertReady: parts.assertReady,
    state,
    head: () => (replica.state() === 'starting' ? null : replica.head()),
    detail() {
      const details = [logDisk, privateNodes, secondMachine].map((one) => one.detail())
      return details.filter((one) => one !== null).join('; ') || null
    },
    members: members.list,
    memory,
    // The lists of the schema's type are not read-only.
    reader: () => reader.status() as ReaderStatus,
  })
  return {
    ...health,
    async readyz(request) {
      if (request.url.startsWith(prefix)) return health.readyz(request)
      try {
        const { headers } = await health.readyz(request)
        const passed = ledgerReadiness(200, '[+] ledger ok (SERVING)\nreadyz check passed\n')
        return { ...passed, headers: { ...headers, ...passed.headers } }
      } catch (error) {
        if (!(error instanceof ScanError)) throw error
        return ledgerReadiness(503, '[-] ledger failed (NOT_SERVING)\nreadyz check failed\n')
      }
    },
  }
}

/** The answer at the root, in the form of the ledger interface (docs/upstream.md §L5.2). */
function ledgerReadiness(status: number, text: string) {
  return { status, headers: { 'content-type': 'text/plain; charset=utf-8' }, body: utf8(text) }
}
