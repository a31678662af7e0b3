import { describe, expect, it } from 'vitest'
import { askMembers, parseScanUrl } from './splice-reader.ts'

describe('parseScanUrl', () => {
  it.each([
    ['https://scan.sv-1.example.com', false, 'https://scan.sv-1.example.com/api/scan'],
    ['https://scan.example.com/', false, 'https://scan.example.com/api/scan'],
    ['https://scan.example.com/api/scan/', false, 'https://scan.example.com/api/scan'],
    ['http://127.0.0.1:4601', true, 'http://127.0.0.1:4601/api/scan'],
    ['http://127.0.0.1:4601', false, undefined],
    ['https://10.0.0.7', false, undefined],
    ['https://10.0.0.7', true, 'https://10.0.0.7/api/scan'],
    ['http://10.0.0.7', true, undefined],
    ['https://169.254.169.254/latest', false, undefined],
    ['https://intranet', false, undefined],
    ['http://scan.example.com', true, undefined],
    ['https://user:pw@scan.example.com', false, undefined],
    ['https://scan.example.com/?a=b', false, undefined],
    ['file:///etc/passwd', true, undefined],
  ])('%s, private addresses allowed: %s', (text, isPrivateAllowed, url) => {
    expect(parseScanUrl(text, isPrivateAllowed)).toBe(url)
  })
})

describe('the member list', () => {
  const body = (svs: unknown) =>
    ({
      dso_rules: {
        contract: {
          template_id: 'a:b:c',
          contract_id: `00${'0'.repeat(64)}`,
          payload: { svs },
          created_event_blob: '',
          created_at: '',
        },
      },
    }) as Parameters<typeof askMembers.read>[0]
  const read = (svs: unknown) => askMembers.read(body(svs), 0)
  const [a, b] = [
    { name: 'a', party: 'a::1' },
    { name: 'b', party: 'b::1' },
  ]

  it('is the same as pairs and as facts, in any order', () => {
    expect(
      read([
        ['b::1', { name: 'b', svRewardWeight: '1' }],
        ['a::1', { name: 'a' }],
      ]),
    ).toEqual([a, b])
    expect(read([b, a])).toEqual([a, b])
  })

  it('is refused if it is empty, too long, or has duplicates', () => {
    const many = Array.from({ length: 201 }, (_, index) => ({ name: `${index}`, party: 'p' }))
    for (const svs of [
      [],
      many,
      [a, { ...b, name: 'a' }],
      [{ name: 'a' }],
      [['a::1', null]],
      'a',
      undefined,
    ])
      expect(read(svs), JSON.stringify(svs)).toBeUndefined()
  })
})
