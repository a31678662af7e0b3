/** Certificates for tests of TLS, made by `openssl`. */
import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)
const KEY = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes']

export type TestAuthority = AsyncDisposable & {
  readonly directory: string
  /** What whoever trusts it is told. */
  readonly caFile: string
  /** A certificate for this machine, for servers as well as clients. @param name - Of its files, and in it unless told. */
  issue(
    name: string,
    subject?: string,
  ): Promise<{ readonly certFile: string; readonly keyFile: string }>
}

/** Makes certificates in a temporary directory, which goes with it. */
export async function createAuthority(name = 'authority'): Promise<TestAuthority> {
  const directory = await mkdtemp(join(tmpdir(), 'qs-tls-'))
  const file = (base: string, kind: string) => join(directory, `${base}.${kind}`)
  const authority = ['-keyout', file('ca', 'key'), '-out', file('ca', 'pem')]
  await run('openssl', ['req', '-x509', ...KEY, '-subj', `/CN=${name}`, '-days', '2', ...authority])
  const extensions = file('leaf', 'ext')
  await writeFile(extensions, 'subjectAltName=IP:127.0.0.1,DNS:localhost\n')
  return {
    directory,
    caFile: file('ca', 'pem'),
    async issue(leaf, subject = leaf) {
      const [key, request, cert] = ['key', 'csr', 'pem'].map((kind) => file(leaf, kind)) as [
        string,
        string,
        string,
      ]
      await run('openssl', [
        'req',
        ...KEY,
        '-subj',
        `/CN=${subject}`,
        '-keyout',
        key,
        '-out',
        request,
      ])
      const signer = ['-CA', file('ca', 'pem'), '-CAkey', file('ca', 'key'), '-CAcreateserial']
      const what = ['-in', request, '-out', cert, '-days', '2', '-extfile', extensions]
      await run('openssl', ['x509', '-req', ...signer, ...what])
      return { certFile: cert, keyFile: key }
    },
    [Symbol.asyncDispose]: () => rm(directory, { recursive: true }),
  }
}
