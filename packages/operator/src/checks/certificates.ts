/** The certificates that an operator's file names: chain, names and expiry. */
import { X509Certificate } from 'node:crypto'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { isIP } from 'node:net'
import { duplexPair } from 'node:stream'
import { connect, createSecureContext, rootCertificates, TLSSocket } from 'node:tls'
import type { Clock, Env } from '@quorumscan/base'
import { judgeValidity, validitiesIn } from '@quorumscan/runtime'
import { type Check, failed, ok, warning } from './check.ts'

/** The variables of certificates: its own, those of its authorities, and those that it shows to others. */
const VARIABLE = /^QS_.*_(?:CERT|CA)$/
export const RENEW_CERTIFICATE =
  'Renew it and replace the file. Processes read it again within 10 s (docs/operations.md, "TLS in the process")'

/** @param publicUrl - Where others reach the process: its certificate must cover the host. Null: unknown. */
export async function checkCertificates(
  variables: Env,
  publicUrl: string | null,
  clock: Clock,
): Promise<readonly Check[]> {
  const names = Object.keys(variables).filter((name) => VARIABLE.test(name) && variables[name])
  return Promise.all(
    names.sort().map(async (variable) => {
      const text = readFileSync(variables[variable] ?? '', 'utf8')
      const name = variable === 'QS_TLS_CERT' ? 'certificate' : variable
      const expiry = checkExpiry(name, { variable, text }, clock)
      if (variable !== 'QS_TLS_CERT' || expiry.state === 'failed') return expiry
      const chain = await checkChain(text, variables)
      const file = variables[variable] ?? ''
      return checkName(new X509Certificate(text), { url: publicUrl, file }) ?? chain ?? expiry
    }),
  )
}

function checkExpiry(
  name: string,
  { variable, text }: { readonly variable: string; readonly text: string },
  clock: Clock,
): Check {
  const { kind, words } = judgeValidity(validitiesIn(variable, text), clock.nowMicros())
  if (kind === 'not-begun')
    return failed(name, `it ${words}`, 'Check the clock of this machine, or replace the file')
  if (kind === 'ended') return failed(name, `it ${words}`, RENEW_CERTIFICATE)
  return kind === 'ends-soon' ? warning(name, words, RENEW_CERTIFICATE) : ok(name, words)
}

function checkName(
  certificate: X509Certificate,
  { url, file }: { readonly url: string | null; readonly file: string },
): Check | null {
  if (url === null) return null
  const host = new URL(url).hostname.replace(/^\[|\]$/g, '')
  const covering = isIP(host) === 0 ? certificate.checkHost(host) : certificate.checkIP(host)
  if (covering !== undefined) return null
  return failed(
    'certificate',
    `QS_TLS_CERT: ${file} is of ${certificate.subjectAltName ?? 'no name'}, and others connect to ${host}`,
    'Get a certificate for that name, or correct QS_PUBLIC_URL: others refuse this one',
  )
}

/** Whether a client with this machine's authorities accepts the chain: by a handshake in memory. */
async function checkChain(cert: string, variables: Env): Promise<Check | null> {
  const readOf = (variable: string) => readFileSync(variables[variable] ?? '', 'utf8')
  const own = variables['QS_PEER_CA'] ? [readOf('QS_PEER_CA')] : []
  const ca = [...rootCertificates, ...own]
  const [server, client] = duplexPair()
  const secureContext = createSecureContext({ cert, key: readOf('QS_TLS_KEY') })
  const accepting = new TLSSocket(server, { isServer: true, secureContext })
  const connecting = connect({ socket: client, ca, rejectUnauthorized: false })
  // Names are checked above, with a sentence of their own.
  await once(connecting, 'secureConnect')
  const { authorizationError: error } = connecting
  connecting.destroy()
  accepting.destroy()
  if (!error || String(error) === 'ERR_TLS_CERT_ALTNAME_INVALID') return null
  return warning(
    'certificate',
    `this machine does not trust it (${error})`,
    'Add the certificates between it and its authority to the file of QS_TLS_CERT. If it is of your own authority, name that in QS_PEER_CA, here and at the other operators',
  )
}
