/** Verdicts of `verify` on valid and invalid files. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createKeyPair, toHex } from '@quorumscan/base'
import { parseMember, writeMember } from '@quorumscan/operator'
import { createGenesis, hashGenesis } from '@quorumscan/operator/ceremony'
import { UsageError } from '@quorumscan/runtime'
import { directoryOfFile } from '@quorumscan/testkit/fixtures'
import { encodeStateStatement } from '@quorumscan/verifier'
import { describe, expect, it } from 'vitest'
import { type RequestOptions, verify } from './verify.ts'

const keys = ['sv-1', 'sv-2', 'sv-3', 'sv-4'].map((name) => ({ name, key: createKeyPair() }))
const newGenesis = () => {
  const rest = { createdAtMicros: 1_700_000_000_000_000, url: null, engineAddress: null }
  const members = keys.map(({ name, key }) => {
    const others = { operator: createKeyPair(), voting: createKeyPair(), engine: createKeyPair() }
    return writeMember('super-validator', { name, ...rest }, { scan: key, ...others })
  })
  const synchronizer = { synchronizer: createKeyPair() }
  members.push(writeMember('synchronizer', { name: 'synchronizer', ...rest }, synchronizer))
  return createGenesis(members.map(parseMember), { driver: 'redis', overrides: {} })
}
const genesis = newGenesis()
const genesisHash = hashGenesis(genesis)
const directory = directoryOfFile()

function file(name: string, text: string): string {
  const path = join(directory, name)
  writeFileSync(path, text)
  return path
}
const genesisFile = file('genesis.json', JSON.stringify(genesis))
const otherGenesisFile = file('other.json', JSON.stringify(newGenesis()))

const NAME = 'alice.unverified.ns'

const judge = (
  text: string,
  more: { asked?: RequestOptions; threshold?: string; genesis?: string } = {},
) =>
  verify({
    file: file('subject.json', text),
    genesisFile: more.genesis ?? genesisFile,
    asked: more.asked ?? {},
    threshold: more.threshold ?? 'weak',
  })

describe('a file that proves nothing', () => {
  it.each([
    ['no JSON', 'valid', 'cannot be read'],
    ['an empty text', '', 'cannot be read'],
    ['JSON that is not an object', '[]', 'neither a certified answer nor evidence'],
    ['a receipt of votes', '{"tag":"quorumscan/answer/1"}', 'neither a certified answer'],
    ['a member name with a terminal escape', '{"\\u001b[2J":1,"\\u001b[2J":2}', 'occurs twice'],
  ])('is refused because of %s', async (_title, document, reason) => {
    const judged = await judge(document)
    expect(judged.isValid).toBe(false)
    expect(judged.text).toMatch(/^invalid, because /)
    expect(judged.text).toContain(reason)
    expect(judged.text).not.toMatch(/\p{Cc}/u)
  })
})

describe('evidence', () => {
  const signed = (root: string, offset = 17) => {
    const statement = encodeStateStatement({
      genesisHash,
      offset,
      recordTime: 1_700_000_000_000_001,
      historyHash: 'ab'.repeat(32),
      stateRoot: root.repeat(32),
    })
    const signature = toHex(keys[2]?.key.sign(statement) ?? statement)
    return { statement: toHex(statement), signature }
  }
  const piece = { signer: 'sv-3', statements: [signed('cd'), signed('ef')] }

  it('names the node that equivocates, and the offset', async () => {
    for (const document of [piece, { evidence: [piece] }]) {
      const judged = await judge(JSON.stringify(document))
      expect(judged).toMatchObject({ isValid: true })
      expect(judged.text).toContain('sv-3 signed two different statements (state) about offset 17')
    }
  })

  it.each([
    ['the same twice', { ...piece, statements: [signed('cd'), signed('cd')] }, 'are the same'],
    ['two offsets', { ...piece, statements: [signed('cd'), signed('ef', 18)] }, 'different things'],
    ['another signer', { ...piece, signer: 'sv-1' }, 'signature 1 does not verify'],
    ['no signer of the network', { ...piece, signer: 'sv-9' }, 'not a node of the network'],
    ['no pieces', { evidence: [] }, 'proves nothing'],
    ['an unknown member', { ...piece, note: 'trust me' }, 'Unrecognized key: "note"'],
  ])('with %s proves nothing', async (_title, document, reason) => {
    const judged = await judge(JSON.stringify(document))
    expect(judged.isValid).toBe(false)
    expect(judged.text).toContain(reason)
  })

  it('of another network proves nothing', async () => {
    const judged = await judge(JSON.stringify(piece), { genesis: otherGenesisFile })
    expect(judged.text).toContain('from another network')
  })

  it('does not prove the answer to a request', async () => {
    const asked = { name: NAME }
    expect(await judge(JSON.stringify(piece), { asked })).toMatchObject({ isValid: false })
  })
})

describe('an invalid command', () => {
  const good = { file: file('good.json', '{}'), genesisFile, asked: {}, threshold: 'weak' }

  it.each([
    [{ threshold: '1' }, 'a number from 2 to 4'],
    [{ threshold: '5' }, 'a number from 2 to 4'],
    [{ threshold: 'most' }, 'weak, strong, all'],
    [{ asked: { request: '{"operation":1}' } }, 'a request is'],
    [{ asked: { request: NAME } }, 'a request is'],
    [{ asked: { name: NAME, party: 'a::b' } }, 'name only one of'],
    [{ asked: { name: NAME, pageSize: 1 } }, '--page-size needs --prefix'],
    [{ file: join(directory, 'nowhere') }, 'nowhere does not exist'],
    [{ genesisFile: join(directory, 'nowhere') }, 'nowhere does not exist'],
    [{ genesisFile: file('bad.json', '{"version":1}') }, 'is not a genesis document'],
  ])('%j is refused as a usage error', async (change, reason) => {
    const refused = verify({ ...good, ...change })
    await expect(refused).rejects.toThrow(reason)
    await expect(refused).rejects.toThrow(UsageError)
  })
})
