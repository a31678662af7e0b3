/**
 * The certificate by which a server shows who it is. Its files are looked at again and again, as whoever renews
 * certificates puts others in their place: what they hold then is shown to those who connect from then on.
 */
import { X509Certificate } from 'node:crypto'
import { createSecureContext, type Server, type TlsOptions } from 'node:tls'
import { isDeepStrictEqual } from 'node:util'
import { type Clock, demandCertificate, EnvError, readNamedText } from '@quorumscan/base'
import type { Logger } from './logger.ts'
import type { Metrics } from './metrics.ts'
import { quiet } from './quiet.ts'
import { repeat } from './repeat.ts'

/** Between looks at the files; certificates are renewed days before they end. */
const LOOK_MS = 10_000
const MS_PER_SECOND = 1000

export type CertificateFiles = {
  /** PEM: its own certificate, then those between it and a root. */
  readonly certFile: string
  readonly keyFile: string
  /** Certificates (PEM) that vouch for clients; null: no client is asked for a certificate. */
  readonly clientCaFile?: string | null
}

export type Certificate = Awaited<ReturnType<typeof openCertificate>>

type Held = { readonly cert: string; readonly key: string; readonly ca?: string }

/** @throws {EnvError} That names the variable whose file cannot be read or does not hold what it must. */
export async function openCertificate(
  files: CertificateFiles,
  app: { readonly clock: Clock; readonly logger: Logger; readonly metrics: Metrics },
) {
  let shown = readHeld(files)
  app.metrics.sampled('gauge', {
    name: 'certificate_ends_seconds',
    help: 'Until when the TLS certificate is valid, in seconds since 1970.',
    // biome-ignore lint/style/noRestrictedGlobals: it reads a text, and no clock.
    read: () => [[[], Date.parse(new X509Certificate(shown.cert).validTo) / MS_PER_SECOND]],
  })
  return {
    /** What a server begins with. A client without a certificate of a peer is like any other (`client.ts`). */
    begin: (): TlsOptions =>
      shown.ca === undefined ? shown : { ...shown, requestCert: true, rejectUnauthorized: false },
    /** Has the server show what the files hold, until the signal aborts. */
    follow(server: Pick<Server, 'setSecureContext'>, signal: AbortSignal): Promise<void> {
      const problems = quiet({ clock: app.clock, perSubjectMs: Number.POSITIVE_INFINITY })
      const look = (): void => {
        const held = readHeld(files)
        problems.forget()
        if (isDeepStrictEqual(held, shown)) return
        server.setSecureContext(held)
        shown = held
        app.logger.info('the TLS certificate was renewed')
      }
      const { ended } = repeat(look, {
        ...{ clock: app.clock, everyMs: LOOK_MS, waitsFirst: true, signal },
        // One file is there before the other, or is being written.
        onError: (err) =>
          problems.write((err as Error).message, () =>
            app.logger.warn({ err }, 'the TLS certificate stays as it is'),
          ),
      })
      return ended
    },
  }
}

function readHeld({ certFile, keyFile, clientCaFile = null }: CertificateFiles): Held {
  const cert = readNamedText({ variable: 'QS_TLS_CERT', file: certFile })
  const key = readNamedText({ variable: 'QS_TLS_KEY', file: keyFile })
  const ca =
    clientCaFile === null
      ? {}
      : { ca: readNamedText({ variable: 'QS_TLS_CLIENT_CA', file: clientCaFile }) }
  const held = { cert, key, ...ca }
  const problem = problemOfCertificate(held)
  if (problem !== null) throw new EnvError(problem)
  return held
}

/** What is wrong with what the files hold; null: nothing is. */
export function problemOfCertificate({ cert, key, ca }: Held): string | null {
  try {
    createSecureContext({ cert, key })
  } catch (cause) {
    const reason = (cause as Error).message
    return `QS_TLS_CERT, QS_TLS_KEY: the files hold no certificate with its key: ${reason}`
  }
  try {
    if (ca !== undefined) demandCertificate(ca)
  } catch (cause) {
    return `QS_TLS_CLIENT_CA: ${(cause as Error).message}`
  }
  return null
}
