/**
 * Verdicts of `verify` on certified documents: the published vectors, also stored in files.
 * @module-tag thorough
 */

import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { directoryOfFile } from '@quorumscan/testkit/fixtures'
import type { CanonicalRequest } from '@quorumscan/verifier'
import { memberOf, membersOf } from '@quorumscan/verifier'
import { describe, expect, it } from 'vitest'
import { type RequestOptions, verify } from './verify.ts'

type Vector = {
  readonly name: string
  readonly request: CanonicalRequest
  readonly signers: number
  readonly document: string
  /** In place of `document`, if that is not text. */
  readonly document_base64?: string
  readonly offset_min?: number
  readonly refuse?: string
  readonly answer?: unknown
  readonly signed_by?: readonly string[]
}

const { genesis, vectors } = JSON.parse(
  readFileSync(join(import.meta.dirname, '../../../test/vectors/certified.json'), 'utf8'),
) as { genesis: string; vectors: readonly Vector[] }
const directory = directoryOfFile()
const fileOf = (name: string, text: string | Uint8Array) => {
  writeFileSync(join(directory, name), text)
  return join(directory, name)
}
const genesisFile = fileOf('genesis.json', genesis)

const judge = (text: string | Uint8Array, asked: RequestOptions = {}, threshold = 'weak') =>
  verify({ file: fileOf('subject.json', text), genesisFile, asked, threshold })
const vector = (name: string) => vectors.find((one) => one.name === name) as Vector

const ALICE = 'alice.unverified.ns'
const present = vector('a name')
const absent = vector('a name that is absent')
const keptOf = ({ request, document }: Vector) => ({ request, document })

/** As `resolve --json` prints it. */
async function printedOf(one: Vector, change: object = {}): Promise<string> {
  const { json } = await judge(JSON.stringify(keptOf(one)))
  const { answer, offset, historyHash, signers } = membersOf(memberOf(json, 'proven', '0'))
  const recordTime = JSON.parse(one.document).certificate.record_time
  const kind = answer === null ? 'verified-absent' : 'verified'
  const facts = { kind, answer, offset, recordTime, historyHash, agreed: signers }
  return `${JSON.stringify({ ...facts, receipt: keptOf(one), ...change })}\n`
}

describe('a certified document', () => {
  it('of activities lists them, their order and the page before them', async () => {
    const page = vector('the next page of activities')
    const { begin_after_id: after } = page.request.parameters
    const known = await judge(JSON.stringify(keptOf(page)))
    expect(known.text).toContain(`activities, oldest first, after ${after}: 2 (consecutive)`)
    const end = await judge(JSON.stringify(keptOf(vector('no activities after the last'))))
    expect(end.text).toMatch(/activities, oldest first, after .*: none/)
    const newest = await judge(JSON.stringify(keptOf(vector('the newest activities'))))
    expect(newest.text).toContain('activities, newest first: 2 (consecutive)')
    const { activities } = page.answer as { activities: readonly { event_id: string }[] }
    const shown = await judge(page.document)
    expect(shown.json).toMatchObject({
      proven: [{ shown: activities.map(({ event_id }) => ({ key: ['activity', event_id] })) }],
    })
    expect(shown.text).toContain(`activity ${activities[0]?.event_id}`)
    expect((await judge(page.document, { name: ALICE })).isValid).toBe(false)
  })

  it('of each vector gets the verdict of the vector, also as a stored receipt', async () => {
    expect(vectors.length).toBeGreaterThan(80)
    // `verify` does not know the page before a page.
    const judged = vectors.filter(({ offset_min }) => offset_min === undefined)
    for (const { name, request, signers, document, answer, signed_by, ...one } of judged) {
      const asked = { request: JSON.stringify(request) }
      const bytes = Buffer.from(one.document_base64 ?? '', 'base64')
      const verdicts = [
        judge(document ?? bytes, asked, String(signers)),
        judge(document ? JSON.stringify({ document, request }) : bytes, {}, String(signers)),
      ]
      if (one.refuse === 'request.signers') {
        for (const verdict of verdicts)
          await expect(verdict, name).rejects.toMatchObject({ name: 'UsageError' })
        continue
      }
      for (const verdict of await Promise.all(verdicts)) {
        expect(verdict.isValid, `${name}: ${verdict.text}`).toBe(signed_by !== undefined)
        if (signed_by !== undefined)
          expect(verdict.json, name).toMatchObject({
            proven: [{ request, answer, signers: signed_by }],
          })
      }
    }
  })

  it('shows the entry, the offset, the time and the signers', async () => {
    const { text } = await judge(present.document, { name: ALICE }, 'strong')
    const entry = membersOf(present.answer)
    expect(text.split('\n')).toEqual([
      'valid',
      '',
      `the name ${ALICE} has this entry`,
      `  contract_id ${entry['contract_id']}`,
      '  user',
      `    ${entry['user']}`,
      `  name        ${ALICE}`,
      `  url         ${entry['url']}`,
      `  description ${entry['description']}`,
      `  expires_at  ${entry['expires_at']}`,
      '',
      '  offset      42',
      '  time        2023-11-14T22:13:20.123456Z',
      '  signed by   sv-1, sv-2, sv-3, sv-4 (4 of 4, 3 needed)',
    ])
  })

  it.each([
    [
      'a name that is absent',
      { name: 'eve.unverified.ns' },
      'the name eve.unverified.ns has no entry',
    ],
    ['the operator', { party: JSON.parse(genesis).dso }, 'has this entry'],
    ['a prefix that no name has', { prefix: 'q', pageSize: 10 }, '"q": 0, no others'],
    ['the first page', { prefix: '', pageSize: 2 }, '"": 2, and there are more'],
    ['all entries', { prefix: '' }, ', no others'],
    ['a batch', { request: JSON.stringify(vector('a batch').request) }, 'lookupEntries'],
  ])('for %s is described by what it proves', async (name, asked, sentence) => {
    const { isValid, text } = await judge(vector(name).document, asked)
    expect(isValid, text).toBe(true)
    expect(text).toContain(sentence)
  })

  it.each<[string, Vector, RequestOptions, string?]>([
    ['another name', present, { name: 'eve.unverified.ns' }],
    ['another party', vector('a party'), { party: JSON.parse(genesis).dso }],
    ['the list with a name', present, { prefix: 'alice' }],
    ['a longer page', vector('the first page'), { prefix: '' }],
    [
      'an operation that nodes do not certify',
      present,
      { request: '{"operation":"x","parameters":{}}' },
    ],
    ['more signers', vector('a name that others begin with'), { name: 'alice' }, 'all'],
  ])('does not prove %s', async (_title, { document }, asked, threshold) => {
    const { isValid, text } = await judge(document, asked, threshold)
    expect(isValid).toBe(false)
    expect(text).toMatch(/^invalid, because /)
  })

  it('without a request shows the proven entries, and reports no absence', async () => {
    const { isValid, text, json } = await judge(present.document)
    expect(isValid).toBe(true)
    expect(text).toContain(`\nn ${ALICE}\n`)
    expect(json).toMatchObject({ proven: [{ shown: [{ value: JSON.stringify(present.answer) }] }] })
    const none = await judge(absent.document)
    expect(none).toMatchObject({ isValid: true, json: { proven: [{ shown: [] }] } })
    expect(none.text).not.toContain('no entry')
    const forged = present.document.replace('"value":"', '"value":" ')
    expect(await judge(forged)).toMatchObject({ isValid: false })
  })
})

describe('the JSON that resolve prints', () => {
  it('is verified with the request in it, or with another one', async () => {
    for (const one of [present, absent]) {
      const verdict = await judge(await printedOf(one))
      expect(verdict, verdict.text).toMatchObject({
        isValid: true,
        json: { proven: [{ request: one.request }] },
      })
    }
    const other = await judge(await printedOf(present), { name: 'eve.unverified.ns' })
    expect(other.isValid).toBe(false)
  })

  it.each([
    ['the answer', { answer: null }],
    ['the offset', { offset: 41 }],
    ['the recordTime', { recordTime: 1 }],
    ['the historyHash', { historyHash: '00' }],
    ['the agreed', { agreed: ['sv-1'] }],
    ['the kind', { kind: 'verified-absent' }],
    ['stored with no request', { receipt: { document: present.document } }],
  ])('is refused if %s differs from the proof', async (what, change) => {
    const { isValid, text } = await judge(await printedOf(present, change))
    expect(isValid).toBe(false)
    expect(text).toContain(what)
  })

  it('has no proof if the lookup had no answer', async () => {
    expect(await judge('{"kind":"insufficient","reachable":1}')).toMatchObject({ isValid: false })
  })
})
