/** The certificates that a process trusts as a client, and the certificate by which it authenticates itself. */
import { createPrivateKey, X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { createSecureContext, rootCertificates, type SecureContext } from 'node:tls'
import { EnvError, type EnvReader, type VariableSpec } from './env.ts'
import { describeReadError } from './file-errors.ts'

/** A PEM file, and the variable that names it. */
export type NamedFile = { readonly variable: string; readonly file: string }

export type ClientTlsFiles = {
  /** Certificate authorities, in addition to those built into Node.js. */
  readonly ca: NamedFile | null
  /** Its own certificate. */
  readonly own: { readonly cert: NamedFile; readonly key: NamedFile } | null
}

/** The file that a variable names; null if it is not set. */
export function readNamedFile(variables: EnvReader, variable: string, spec: VariableSpec) {
  const file = variables.optional(variable, { file: () => {}, ...spec })
  return file === null ? null : { variable, file }
}

/** `<prefix>_CERT` and `<prefix>_KEY`. @param to - The server that it authenticates to. */
export function readOwnCertificate(variables: EnvReader, prefix: string, to: string) {
  const cert = readNamedFile(variables, `${prefix}_CERT`, {
    about: `its client certificate (PEM) for ${to}; the file is read again for each connection`,
    example: '/etc/quorumscan/tls/client.pem',
    file: assertCertificate,
  })
  const key = readNamedFile(variables, `${prefix}_KEY`, {
    about: `the key of the certificate in ${prefix}_CERT (PEM)`,
    example: '/etc/quorumscan/tls/client.key',
    file: assertKey,
  })
  if (cert !== null && key !== null) return { cert, key }
  if (cert !== key)
    variables.contradiction(
      [`${prefix}_CERT`, `${prefix}_KEY`],
      `set both ${prefix}_CERT and ${prefix}_KEY, or neither`,
    )
  return null
}

/** Node.js accepts a text without a certificate. @throws {Error} If the text does not hold one in PEM. */
export function assertCertificate(text: string): void {
  const [first] = /-----BEGIN CERTIFICATE-----.*?-----END CERTIFICATE-----/s.exec(text) ?? []
  try {
    new X509Certificate(first ?? '')
  } catch (cause) {
    throw new Error('the file must hold a certificate in PEM', { cause })
  }
}

/** @throws {Error} If the text does not hold a private key in PEM, or one that a passphrase encrypts. */
export function assertKey(text: string): void {
  try {
    createPrivateKey(text)
  } catch (cause) {
    throw new Error('the file must hold a private key in PEM without a passphrase', { cause })
  }
}

/** The context of a connection that is opened now. */
export type ClientTls = () => SecureContext

/**
 * Reads the files for each connection, because a renewal replaces them. While they do not fit together, because one
 * file was replaced before the other, the previous context stays.
 *
 * @returns null without files: the default of Node.
 * @throws {EnvError} Which names the variable whose file cannot be read or is malformed.
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
      // The previous context stays.
    }
    return context
  }
}

type Texts = readonly [ca: string | null, cert: string | null, key: string | null]

function readFiles({ ca, own }: ClientTlsFiles): Texts {
  return [
    ca && readNamedText(ca, assertCertificate),
    own && readNamedText(own.cert, assertCertificate),
    own && readNamedText(own.key),
  ]
}

function contextOf({ ca: caFile, own }: ClientTlsFiles, [ca, cert, key]: Texts): SecureContext {
  try {
    return createSecureContext({
      ...(ca !== null && { ca: [...rootCertificates, ca] }),
      ...(cert !== null && key !== null && { cert, key }),
    })
  } catch (cause) {
    const files = [caFile, own?.cert, own?.key].flatMap((file) => file?.variable ?? [])
    throw new EnvError(`${files.join(', ')}: ${(cause as Error).message}`, { cause })
  }
}

/** @throws {EnvError} Which names the variable, if the file cannot be read or `demand` throws. */
export function readNamedText(
  { variable, file }: NamedFile,
  demand: (text: string) => void = () => {},
): string {
  try {
    const text = readFileSync(file, 'utf8')
    demand(text)
    return text
  } catch (cause) {
    throw new EnvError(`${variable}: ${describeReadError(cause, file)}`, { cause })
  }
}
