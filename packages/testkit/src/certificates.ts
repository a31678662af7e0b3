/** Certificates for tests of TLS, made by `openssl`. */
import { execFile } from 'node:child_process'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { createDirectory } from './directory.ts'
import { required } from './requirements.ts'

const run = (...args: readonly string[]) => promisify(execFile)(required('openssl'), args)
const DAYS = 30
const KEY = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes']

export type TestAuthority = AsyncDisposable & {
  readonly directory: string
  /** The authority's certificate (PEM), for clients. */
  readonly caFile: string
  /**
   * Issues a certificate for servers and clients.
   *
   * @param name - Base name of its files. Default of `subject`.
   * @param address - IP address of its owner. Default: the loopback address and `localhost`.
   */
  issue(
    name: string,
    subject?: string,
    address?: string,
  ): Promise<{ readonly certFile: string; readonly keyFile: string }>
  /**
   * Signs a certificate request (PEM) for an address, and returns the certificate (PEM).
   *
   * @param days - Default: longer than the week in which an alert fires.
   */
  sign(request: string, address: string, days?: number): Promise<string>
}

/** Creates an authority with its files in a temporary directory, which its disposal deletes. */
export async function createAuthority(name = 'authority'): Promise<TestAuthority> {
  const { path: directory, ...temporary } = createDirectory()
  const file = (base: string, kind: string) => join(directory, `${base}.${kind}`)
  const authority = ['-keyout', file('ca', 'key'), '-out', file('ca', 'pem')]
  await run('req', '-x509', ...KEY, '-subj', `/CN=${name}`, '-days', String(DAYS), ...authority)
  let count = 0
  const sign = async (requestFile: string, address?: string, days = DAYS): Promise<string> => {
    const leaf = `leaf-${++count}`
    const [extensions, certFile] = [file(leaf, 'ext'), file(leaf, 'pem')]
    const subject = address === undefined ? 'IP:127.0.0.1,DNS:localhost' : `IP:${address}`
    await writeFile(extensions, `subjectAltName=${subject}\n`)
    const signer = ['-CA', file('ca', 'pem'), '-CAkey', file('ca', 'key'), '-CAcreateserial']
    const options = ['-in', requestFile, '-out', certFile, '-extfile', extensions]
    await run('x509', '-req', ...signer, '-days', String(days), ...options)
    return certFile
  }
  return {
    directory,
    caFile: file('ca', 'pem'),
    async issue(leaf, subject = leaf, address = undefined) {
      const [keyFile, requestFile] = [file(leaf, 'key'), file(leaf, 'csr')]
      const output = ['-keyout', keyFile, '-out', requestFile]
      await run('req', ...KEY, '-subj', `/CN=${subject}`, ...output)
      return { certFile: await sign(requestFile, address), keyFile }
    },
    async sign(request, address, days) {
      const requestFile = file(`request-${++count}`, 'csr')
      await writeFile(requestFile, request)
      return readFile(await sign(requestFile, address, days), 'utf8')
    },
    ...temporary,
  }
}
