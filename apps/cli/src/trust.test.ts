/** `QS_PEER_CA` in commands: the file is needed when the first request is sent, and no earlier. */
import { afterEach, expect, it, vi } from 'vitest'
import { trustPeers } from './trust.ts'

afterEach(() => vi.unstubAllGlobals())

it('a command that asks nobody needs no file, and the first request of another names it', async () => {
  const untrusting = async () => Promise.reject(new Error('asked without the authority'))
  vi.stubGlobal('fetch', untrusting)
  trustPeers({ QS_PEER_CA: '/nowhere/ca.pem' })
  await expect(fetch('https://sv-1.example')).rejects.toThrow(
    'QS_PEER_CA: /nowhere/ca.pem does not exist',
  )
})

it('nothing changes without the variable', () => {
  const { fetch } = globalThis
  trustPeers({ QS_PEER_CA: '' })
  trustPeers({})
  expect(globalThis.fetch).toBe(fetch)
})
