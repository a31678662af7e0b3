/** By which certificates a process knows whom it connects to, and by which it shows who it is itself. */
import { createPrivateKey, X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { createSecureContext, rootCertificates, type SecureContext } from 'node:tls'
import { EnvError, type EnvReader, type Meaning } from './env.ts'
import { describeFileError } from './file-errors.ts'

/** A PEM file, and the variable that names it. */
export type NamedFile = { readonly variable: string; readonly file: string }

export type ClientTlsFiles = {
  /** Certificates that vouch for others, beside those that every Node trusts. */
  readonly ca: NamedFile | null
  /** What it shows of itself. */
  readonly own: { readonly cert: NamedFile; readonly key: NamedFile } | null
}

/** The file that a variable names; null where it names none. */
export function readNamedFile(
  variables: EnvReader,
  variable: string,
  meaning: Meaning,
): NamedFile | null {
  const file = variables.optional(variable, { file: () => {}, ...meaning })
  return file === null ? null : { variable, file }
}

/** `<prefix>_CERT` and `<prefix>_KEY`. @param to - To whom it shows who it is. */
export function readOwnCertificate(
  variables: EnvReader,
  prefix: string,
  to: string,
): ClientTlsFiles['own'] {
  const cert = readNamedFile(variables, `${prefix}_CERT`, {
    about: `a certificate (PEM) by which it shows ${to} who it is; what the file holds then is shown by each connection`,
    example: '/etc/quorumscan/tls/client.pem',
    file: demandCertificate,
  })
  const key = readNamedFile(variables, `${prefix}_KEY`, {
    about: 'the key of that certificate (PEM)',
    example: '/etc/quorumscan/tls/client.key',
    file: demandKey,
  })
  if (cert !== null && key !== null) return { cert, key }
  if (cert !== key) variables.problem(`${prefix}_CERT and ${prefix}_KEY go together`)
  return null
}

/** Of a text without one, Node says nothing. @throws {Error} If it holds no certificate in PEM. */
export function demandCertificate(text: string): void {
  const [first] = /-----BEGIN CERTIFICATE-----.*?-----END CERTIFICATE-----/s.exec(text) ?? []
  try {
    new X509Certificate(first ?? '')
  } catch (cause) {
    throw new Error('it holds no certificate that can be read (PEM)', { cause })
  }
}

/** @throws {Error} If it holds no private key in PEM, or one that a passphrase encrypts. */
export function demandKey(text: string): void {
  try {
    createPrivateKey(text)
  } catch (cause) {
    throw new Error('it holds no private key that can be read without a passphrase (PEM)', {
      cause,
    })
  }
}

/** What a connection that is made now goes by. */
export type ClientTls = () => SecureContext

/**
 * Looks into the files for each connection, as whoever renews certificates puts others in their place. What does not
 * fit together then leaves all as it was: one file is there before the other.
 *
 * @returns null where there is no file: as every Node does it.
 * @throws {EnvError} That names the variable whose file cannot be read or does not hold what it must.
 */
export function openClientTls(files: ClientTlsFiles): ClientTls | null {
  if (files.ca === null && files.own === null) return null
  let held = readFiles(files)
  let context = contextOf(files, held)
  return () => {
    try {
      const found = readFiles(files)
      if (found.every((text, index) => text === held[index])) return context
      context = contextOf(files, found)
      held = found
    } catch {
      // As it was.
    }
    return context
  }
}

type Texts = readonly [ca: string | null, cert: string | null, key: string | null]

function readFiles({ ca, own }: ClientTlsFiles): Texts {
  const [vouching, cert] = [ca, own?.cert ?? null].map((file) => {
    if (file === null) return null
    const text = readNamedText(file)
    try {
      demandCertificate(text)
    } catch (cause) {
      throw new EnvError(`${file.variable}: ${file.file}: ${(cause as Error).message}`, { cause })
    }
    return text
  })
  return [vouching ?? null, cert ?? null, own === null ? null : readNamedText(own.key)]
}

function contextOf({ ca: caFile, own }: ClientTlsFiles, [ca, cert, key]: Texts): SecureContext {
  try {
    return createSecureContext({
      ...(ca === null ? {} : { ca: [...rootCertificates, ca] }),
      ...(cert === null || key === null ? {} : { cert, key }),
    })
  } catch (cause) {
    const files = [caFile, own?.cert, own?.key].flatMap((file) => file?.variable ?? [])
    throw new EnvError(`${files.join(', ')}: ${(cause as Error).message}`, { cause })
  }
}

/** @throws {EnvError} That names the variable. */
export function readNamedText({ variable, file }: NamedFile): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (cause) {
    const why = describeFileError(cause, file) ?? String(cause)
    throw new EnvError(`${variable}: ${why}`, { cause })
  }
}
