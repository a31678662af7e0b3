/** Messages about addresses: the option, the reason and the address, and never a password. */
import { describe, expect, it } from 'vitest'
import { httpResolver } from '../naming/http-resolver.ts'
import { createScan } from '../scan.ts'
import { createSpliceScan } from '../splice/splice-scan.ts'
import { createValidator } from '../validator.ts'

const GOOD = 'https://sv-1.example'
const genesis = 'a'.repeat(64)

const TAKERS = {
  'seeds[1]': (url: string) => createScan({ seeds: [GOOD, url], genesis }),
  'seeds[0]': (url: string) => createSpliceScan({ seeds: [url] }),
  'scans[0].publicUrl': (url: string) =>
    createSpliceScan({ scans: [{ svName: 'a', publicUrl: url }] }),
  url: (url: string) => createValidator({ url }),
  ledgerUrl: (url: string) => createValidator({ url: GOOD, ledgerUrl: url }),
  'url of a resolver': (url: string) => httpResolver({ id: 'dns', url }),
}

const REASONS: readonly [url: unknown, reason: string, shown: string][] = [
  ['https://ann:Hunter2@sv-1.example', 'has a user or a password', '"https://***@sv-1.example"'],
  ['https://ann:Hun/ter2@sv-1.example/a', 'is not a URL', '"https://***@sv-1.example/a"'],
  ['https://Hunter2@sv-1.example', 'has a user or a password', '"https://***@sv-1.example"'],
  ['ann:Hunter2@sv-1.example', 'does not begin with https://', '***@sv-1.example"'],
  ['https://sv-1.example/?key=Hunter2', 'has a query ("?")', '"https://sv-1.example/?***"'],
  ['https://sv-1.example/#top', 'has a fragment ("#")', '"https://sv-1.example/#top"'],
  [' https://sv-1.example', 'contains white space', '" https://sv-1.example"'],
  ['https://sv-1.example\n', 'contains white space', '"https://sv-1.example\\n"'],
  ['https://sv 1.example', 'contains white space', '"https://sv 1.example"'],
  ['https://ann:Hunter2 @sv-1.example', 'contains white space', '"https://***@sv-1.example"'],
  ['', 'is empty', '""'],
  ['sv-1.example', 'does not begin with https:// or http://', '"sv-1.example"'],
  ['ftp://sv-1.example', 'does not begin with https:// or http://', '"ftp://sv-1.example"'],
  ['https://', 'is not a URL', '"https://"'],
  ['https://sv-1.example:99999', 'is not a URL', '"https://sv-1.example:99999"'],
  [`https://sv-1.example/${'a'.repeat(255)}`, 'has more than 255 characters', 'aaa…"'],
  [7, 'is not a text', ''],
  [null, 'is not a text', ''],
]

describe.each(Object.entries(TAKERS))('%s', (what, take) => {
  it.each(REASONS)('%j is refused with the reason: %s', (url, reason, shown) => {
    let message = ''
    try {
      take(url as string)
    } catch (error) {
      expect(error).toMatchObject({ code: 'INVALID_ARGUMENT' })
      message = (error as Error).message
    }
    expect(message).toContain(`\`${what.split(' ')[0]}\``)
    expect(message).toContain(reason)
    expect(message).toContain(shown)
    expect(message).not.toContain('Hunter2')
    expect(message).not.toContain('ann')
  })
})

it('scans and resolvers beyond this machine need https', () => {
  for (const take of [TAKERS['seeds[0]'], TAKERS['url of a resolver']]) {
    expect(() => take('http://sv-1.example')).toThrow('must be https, or http on this machine')
    expect(() => take('http://127.0.0.1:4611')).not.toThrow()
  }
})
