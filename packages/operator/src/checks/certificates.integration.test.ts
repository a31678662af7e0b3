/** Certificates that have expired, are of another name, or of an authority that is not trusted. */
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { rootCertificates } from 'node:tls'
import { createSystemClock } from '@quorumscan/base'
import { createAuthority, createManualClock } from '@quorumscan/testkit'
import { it as base } from '@quorumscan/testkit/fixtures'
import { expect } from 'vitest'
import { checkCertificates } from './certificates.ts'

const DAY_MS = 86_400_000
const now = createSystemClock()
const URL = 'https://localhost:4611'

const it = base
  .extend('authority', { scope: 'file' }, async ({ fileResources }) =>
    fileResources.opened(await createAuthority()),
  )
  .extend('variables', { scope: 'file' }, async ({ authority }) => {
    const { certFile, keyFile } = await authority.issue('sv-1')
    return { QS_TLS_CERT: certFile, QS_TLS_KEY: keyFile, QS_PEER_CA: authority.caFile }
  })
  /** The check of the TLS certificate, some days later. */
  .extend('check', ({ variables }) => async (changes: object = {}, url = URL, days = 0) => {
    const clock = createManualClock(now.nowMicros())
    await clock.advance(days * DAY_MS)
    const checks = await checkCertificates({ ...variables, ...changes }, url, clock)
    return checks.find(({ name }) => name === 'certificate')
  })

it('accepts a certificate of its own authority, for a name or an address', async ({ check }) => {
  for (const url of [URL, 'https://127.0.0.1:4611'])
    expect(await check({}, url)).toMatchObject({
      state: 'ok',
      detail: expect.stringMatching(/^valid until \d{4}-\d\d-\d\d, for 29 days$/),
    })
})

it('refuses one that has expired, and warns a week before', async ({ check }) => {
  expect(await check({}, URL, 25)).toMatchObject({ state: 'warning' })
  expect(await check({}, URL, 31)).toMatchObject({
    state: 'failed',
    detail: expect.stringMatching(/^it expired on \d{4}-\d\d-\d\d$/),
  })
  expect(await check({}, URL, -1)).toMatchObject({
    state: 'failed',
    detail: expect.stringContaining('it is valid only from'),
  })
})

it.for(['https://sv-1.example', 'https://192.0.2.1', 'https://[2001:db8::1]:4611'])(
  'refuses one that does not cover %s',
  async (url, { check }) => {
    const host = /[^/[]*example|192[0-9.]*|2001[^\]]*/.exec(url)?.[0]
    expect(await check({}, url)).toMatchObject({
      state: 'failed',
      detail: expect.stringContaining(
        ` is of IP Address:127.0.0.1, DNS:localhost, and others connect to ${host}`,
      ),
    })
    // The name matters more than the days that are left.
    expect(await check({}, url, 25)).toMatchObject({ state: 'failed' })
  },
)

it('warns of one whose authority this machine does not trust', async ({ check }) => {
  expect(await check({ QS_PEER_CA: '' })).toMatchObject({
    state: 'warning',
    detail: 'this machine does not trust it (UNABLE_TO_VERIFY_LEAF_SIGNATURE)',
  })
  await using other = await createAuthority('other')
  expect(await check({ QS_PEER_CA: other.caFile })).toMatchObject({ state: 'warning' })
})

it('checks the expiry of other certificates', async ({ variables }) => {
  const clock = createManualClock(now.nowMicros())
  await clock.advance(31 * DAY_MS)
  const checks = await checkCertificates({ QS_PEER_CA: variables.QS_PEER_CA }, null, clock)
  expect(checks).toMatchObject([{ name: 'QS_PEER_CA', state: 'failed' }])
})

it('accepts the authorities while one is valid and its successor is not yet', async ({
  authority,
  variables,
  directory,
}) => {
  const request = await readFile(variables.QS_TLS_KEY.replace(/key$/, 'csr'), 'utf8')
  // It begins now and ends after those that the machine trusts, which began long ago.
  const successor = await authority.sign(request, '127.0.0.1', 36_500)
  const clock = createManualClock(now.nowMicros())
  await clock.advance(-DAY_MS)
  const file = join(directory, 'authorities.pem')
  const check = async (...authorities: readonly string[]) => {
    await writeFile(file, `${authorities.join('\n')}\n`)
    return await checkCertificates({ QS_PEER_CA: file }, null, clock)
  }
  const states = await Promise.all(
    rootCertificates.map(async (pem, index) => {
      const QS_PEER_CA = join(directory, `${index}.pem`)
      await writeFile(QS_PEER_CA, pem)
      const [one] = await checkCertificates({ QS_PEER_CA }, null, clock)
      return one?.state
    }),
  )
  const valid = rootCertificates[states.indexOf('ok')] as string
  for (const both of [
    [valid, successor],
    [successor, valid],
  ])
    expect(await check(...both)).toMatchObject([{ name: 'QS_PEER_CA', state: 'ok' }])
  expect(await check(successor)).toMatchObject([{ name: 'QS_PEER_CA', state: 'failed' }])
})
