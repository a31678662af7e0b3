/**
 * The TLS certificate of a server. The process reads its files periodically: after a renewal, new connections receive
 * the new certificate.
 */
import { createSecureContext, type Server, type TlsOptions } from 'node:tls'
import { isDeepStrictEqual } from 'node:util'
import { assertCertificate, type Clock, EnvError, onReload, readNamedText } from '@quorumscan/base'
import { type Validities, validitiesIn } from './certificate-validity.ts'
import type { Logger } from './logger.ts'
import { createRateLimitedLog } from './rate-limited-log.ts'
import { repeat } from './repeat.ts'

/** Between two reads of the files; certificates are renewed days before they end. */
const RELOAD_MS = 10_000

export type CertificateFiles = {
  /** PEM: its own certificate, then those between it and a root. */
  readonly certFile: string
  readonly keyFile: string
  /** Certificate authorities of clients (PEM); null: the server requests no certificates of clients. */
  readonly clientCaFile?: string | null
}

export type TlsCertificate = Awaited<ReturnType<typeof openTlsCertificate>>

type Loaded = { readonly cert: string; readonly key: string; readonly ca?: string }

/** @throws {EnvError} Which names the variable whose file cannot be read or is malformed. */
export async function openTlsCertificate(
  files: CertificateFiles,
  app: { readonly clock: Clock; readonly logger: Logger },
) {
  let current = load(files)
  return {
    /** Of the certificate that new connections receive. */
    validities: (): Validities => validitiesIn('QS_TLS_CERT', current.cert),
    /** The options of a new server. A client without a certificate of a peer is anonymous (`client.ts`). */
    tlsOptions: (): TlsOptions =>
      current.ca === undefined
        ? current
        : { ...current, requestCert: true, rejectUnauthorized: false },
    /** Reloads the certificate of the server from the files, periodically and on request, until the signal aborts. */
    autoReload(server: Pick<Server, 'setSecureContext'>, signal: AbortSignal): Promise<void> {
      const { clock } = app
      const problems = createRateLimitedLog({ clock, perSubjectMs: Number.POSITIVE_INFINITY })
      const reload = (): void => {
        const loaded = load(files)
        problems.forget()
        if (isDeepStrictEqual(loaded, current)) return
        server.setSecureContext(loaded)
        current = loaded
        app.logger.info('the TLS certificate was renewed')
      }
      // One file is replaced before the other, or is being written.
      const onError = (err: unknown): void =>
        problems.write((err as Error).message, () =>
          app.logger.warn({ err }, 'the TLS files are invalid; the old certificate stays in use'),
        )
      onReload(() => {
        try {
          reload()
        } catch (error) {
          onError(error)
        }
      }, signal)
      return repeat(reload, { clock, everyMs: RELOAD_MS, waitsFirst: true, signal, onError }).ended
    },
  }
}

function load({ certFile, keyFile, clientCaFile = null }: CertificateFiles): Loaded {
  const cert = readNamedText({ variable: 'QS_TLS_CERT', file: certFile })
  const key = readNamedText({ variable: 'QS_TLS_KEY', file: keyFile })
  const clientCa = clientCaFile && { variable: 'QS_TLS_CLIENT_CA', file: clientCaFile }
  const loaded = { cert, key, ...(clientCa && { ca: readNamedText(clientCa) }) }
  const problem = problemOfCertificate(loaded)
  if (problem !== null) throw new EnvError(problem)
  return loaded
}

/** Why the files are invalid; null if they are valid. */
export function problemOfCertificate({ cert, key, ca }: Loaded): string | null {
  try {
    createSecureContext({ cert, key })
  } catch (cause) {
    const { code, message } = cause as NodeJS.ErrnoException
    const reason =
      code === 'ERR_OSSL_X509_KEY_VALUES_MISMATCH' ? 'the key is that of another one' : message
    return `QS_TLS_CERT, QS_TLS_KEY: the files contain no certificate with its key: ${reason}`
  }
  try {
    if (ca !== undefined) assertCertificate(ca)
  } catch (cause) {
    return `QS_TLS_CLIENT_CA: ${(cause as Error).message}`
  }
  return null
}
