import { describe, expect, it } from 'vitest'
import { isAuthenticated, machineOf, parseNodeUrl } from './node-url.ts'

describe('the URL of a node', () => {
  it.each([
    ['https://sv-1.example.com', 'https://sv-1.example.com'],
    ['https://sv-1.example.com/', 'https://sv-1.example.com'],
    ['https://SV-1.example.com:443/api/scan/', 'https://sv-1.example.com/api/scan'],
    ['http://8.8.8.8:80', 'http://8.8.8.8'],
    ['http://[2001:4860::1]:8080', 'http://[2001:4860::1]:8080'],
  ])('%s is %s', (text, url) => {
    expect(parseNodeUrl(text, false)).toBe(url)
  })

  it.each([
    '',
    'sv-1',
    'ftp://a.example',
    'javascript:alert(1)',
    'https://user@a.example',
    'https://:secret@a.example',
    'https://a.example/?q',
    'https://a.example/#f',
    `https://a.example/${'x'.repeat(255)}`,
  ])('refuses %s', (text) => {
    expect(parseNodeUrl(text, true)).toBeUndefined()
  })

  it.each([
    'http://localhost:1',
    'http://a.localhost',
    'http://127.0.0.1',
    'http://127.1',
    'http://2130706433',
    'http://0x7f.1',
    'http://0.0.0.0',
    'http://10.1.2.3',
    'http://172.16.0.1',
    'http://172.31.255.255',
    'http://192.168.1.1',
    'http://169.254.169.254',
    'http://100.64.0.1',
    'http://224.0.0.1',
    'http://255.255.255.255',
    'http://[::1]',
    'http://[::]',
    'http://[::ffff:10.0.0.1]',
    'http://[fc00::1]',
    'http://[fe80::1]',
    'http://[fec0::1]',
    'http://[2002:a00:1::1]',
    'http://[2001:0:a00:1::1]',
    'http://[2001:db8::1]',
    'http://203.0.113.1',
    'http://intranet',
    'http://localhost.',
    'http://a.localhost.',
    'http://intranet.',
    'http://127.0.0.1.',
    'http://[2::1]',
  ])('%s is refused unless private addresses are allowed', (text) => {
    expect(parseNodeUrl(text, false)).toBeUndefined()
    expect(parseNodeUrl(text, true)).toBeDefined()
  })

  it.each([
    'http://172.32.0.1',
    'http://172.2.0.1',
    'http://100.128.0.1',
    'http://100.7.0.1',
    'http://11.0.0.1',
    'http://192.169.0.1',
    'http://10.scans.example.com',
    'http://[2001:4860::1]',
    'http://[2001:200::1]',
  ])('%s is public', (text) => {
    expect(parseNodeUrl(text, false)).toBeDefined()
  })

  it('authenticates the node if it is https, or this machine', () => {
    expect(isAuthenticated('https://a.example')).toBe(true)
    expect(isAuthenticated('http://127.0.0.1:4600')).toBe(true)
    expect(isAuthenticated('http://[::1]:4600')).toBe(true)
    expect(isAuthenticated('http://a.example')).toBe(false)
    expect(isAuthenticated('http://10.0.0.1')).toBe(false)
  })
})

describe('the machine of a URL', () => {
  it.each([
    ['http://127.0.0.1:7', 'http://localhost:7', 'http://127.1:7/x', 'http://0x7f.0.0.1:7'],
    ['http://127.0.0.1:7', 'http://[::1]:7', 'http://a.LOCALHOST:7', 'https://localhost.:7'],
    ['http://127.0.0.1:7', 'https://[::ffff:127.0.0.1]:7', 'https://0.0.0.0:7', 'https://[::]:7'],
    ['http://127.0.0.1', 'http://localhost:80', 'http://2130706433/'],
    ['https://a.example', 'https://A.example.', 'https://a.example:8443', 'https://a.example/x'],
  ])('%s is that of other spellings', (first, ...others) => {
    expect(others.map(machineOf)).toEqual(others.map(() => machineOf(first)))
  })

  it('is another one for another name, and on this machine for another port', () => {
    const urls = ['https://a.example', 'https://b.example', 'http://127.0.0.1:7', 'http://[::1]:8']
    expect(new Set(urls.map(machineOf)).size).toBe(urls.length)
  })
})
