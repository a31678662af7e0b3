/** What the answers of other operators mean: unreachable ones, wrong clocks, absent votes. */

import { createManualClock, serve } from '@quorumscan/testkit'
import { expect, it } from 'vitest'
import type { PeerAnswer } from './peers.ts'
import { askPeers, checkClock, checkIssuer, checkLookups, checkPeers, checkVotes } from './peers.ts'

const NOW_MICROS = 1_700_000_000_000_000
const clock = createManualClock(NOW_MICROS)
const options = { fetch, clock }
/** A port of the system, on which no process listens. */
const NOWHERE = 'http://127.0.0.1:1'

/** Peers whose clocks are ahead by these seconds; null: no answer. */
const answersOf = (seconds: readonly (number | null)[]): readonly PeerAnswer[] =>
  seconds.map((ahead, index) => {
    const name = `sv-${index + 2}`
    if (ahead === null) return { name, reason: 'refused', reading: null }
    const wallMicros = NOW_MICROS + ahead * 1_000_000
    return { name, reason: null, reading: { peer: name, wallMicros, atMs: 0, head: null } }
  })

it('a peer that does not answer is a warning, and named with the reason', async () => {
  await using server = await serve((_, response) => {
    response.setHeader('x-clock', String(NOW_MICROS)).end()
  })
  await using other = await serve((_, response) => response.end('hello'))
  const peers = [
    { name: 'sv-2', url: server.url },
    { name: 'sv-3', url: NOWHERE },
    { name: 'sv-4', url: other.url },
  ]
  const answers = await askPeers(peers, options)
  expect(answers[0]).toMatchObject({ reason: null, reading: { wallMicros: NOW_MICROS } })
  expect(checkPeers(answers)).toMatchObject({
    state: 'warning',
    detail: '1 of 3 other nodes answer; sv-3: bad port, sv-4: status 200',
  })
  expect(checkPeers(answers.slice(0, 1))).toMatchObject({ state: 'ok', advice: null })
})

it.each([
  ['agrees with f + 1 peers', [0, 0, 500], 'ok', '0 ms from the others'],
  ['is 3 s behind f + 1 peers', [3, 3, 0], 'warning', '3 s behind those of 2 nodes or more'],
  ['is 11 s ahead', [-11, -11, null], 'failed', '11 s ahead of those of 2 nodes or more'],
  ['cannot be compared', [0, null, null], 'warning', '2 nodes must agree, and 1 answered'],
] as const)('a clock that %s: %s', (_, seconds, state, detail) => {
  const check = checkClock(answersOf(seconds), 4, clock)
  expect(check).toMatchObject({ name: 'clock', state, detail: expect.stringContaining(detail) })
})

it.each([
  ['no', [], 'ok', '4 nodes may be asked'],
  ['two of four nodes with', [3, 4], 'warning', '2 of 4 nodes may not be asked'],
  ['three of four nodes with', [2, 3, 4], 'failed', 'Lookups need 2, and end with NOT_ENOUGH'],
] as const)('a validator that asks %s private addresses', async (_, privates, state, detail) => {
  const isPrivate = (index: number) => privates.some((one) => one === index)
  const nodes = [1, 2, 3, 4].map((index) => ({
    name: `sv-${index}`,
    // Names of public form, and a literal address.
    url: index === 4 && isPrivate(4) ? 'https://10.1.2.3:4611' : `https://sv-${index}.example`,
  }))
  const addressesOf = async (host: string) =>
    isPrivate(Number(/\d/.exec(host))) ? ['1.1.1.1', 'fd00::1'] : ['1.1.1.1']
  const check = await checkLookups(nodes, null, addressesOf)
  expect(check).toMatchObject({ name: 'lookups', state, detail: expect.stringContaining(detail) })
})

const stateRoot = 'ab'.repeat(32)
const votes = (roots: Readonly<Record<string, string | null>>) => ({
  offset: Object.values(roots).some((root) => root !== null) ? 7 : null,
  states: Object.entries(roots).map(([node, root]) => ({
    node,
    state: root === null ? null : { historyHash: '', stateRoot: root },
    newest: null,
    reason: root === null ? 'refused' : null,
  })),
})

it('names who signs the newest state, and who is absent', () => {
  const three = { 'sv-1': stateRoot, 'sv-2': stateRoot, 'sv-3': stateRoot }
  expect(checkVotes(votes({ ...three, 'sv-4': stateRoot }))).toMatchObject({
    state: 'ok',
    detail: 'offset 7 is signed by sv-1, sv-2, sv-3, sv-4',
  })
  expect(checkVotes(votes({ ...three, 'sv-4': null }))).toMatchObject({
    state: 'warning',
    detail: 'offset 7 is signed by sv-1, sv-2, sv-3; sv-4 is absent (refused)',
  })
  const tooFew = checkVotes(votes({ ...three, 'sv-3': null, 'sv-4': null }))
  expect(tooFew).toMatchObject({ state: 'failed', detail: expect.stringContaining('Too few') })
  const differ = checkVotes(votes({ ...three, 'sv-4': 'cd'.repeat(32) }))
  expect(differ).toMatchObject({ state: 'failed', detail: expect.stringContaining('differ') })
  expect(checkVotes(votes({ 'sv-1': null }))).toMatchObject({ state: 'failed' })
})

it('warns of an issuer of tokens that does not answer', async () => {
  expect(await checkIssuer(`${NOWHERE}/jwks`, fetch)).toMatchObject({
    state: 'warning',
    detail: `${NOWHERE}/jwks: bad port`,
  })
  await using issuer = await serve((_, response) => response.end('{"keys":[]}'))
  expect(await checkIssuer(issuer.url, fetch)).toMatchObject({ state: 'ok' })
})
