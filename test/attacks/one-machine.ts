/** Readers of scans without keys (`/splice`): one liar has several names of its machine, or decides among few seeds. */
import { createSpliceScan, type SpliceScanOptions } from '@quorumscan/sdk/splice'
import { idOf, partyOf, type ScanBehaviour, startScans } from '@quorumscan/testkit/splice-scans'
import type { Attack } from './attack.ts'

const NAMES = ['A', 'B', 'C', 'D']
const ALICE = 'alice.unverified.cns'
const [PARTY, THIEF] = [partyOf('alice'), partyOf('thief')]
const ENTRY = {
  contract_id: idOf(ALICE),
  user: PARTY,
  name: ALICE,
  url: '',
  description: '',
  expires_at: '2099-01-01T00:00:00Z',
}
/** Of a network that has only the liar. */
const lies: ScanBehaviour = (_, { text }) => ({
  status: 200,
  text: text.replaceAll(PARTY, THIEF),
})

export const oneMachine: Attack = {
  name: 'one-machine',
  part: 'attacks-sources',
  claim:
    'One of four scans of a Splice network lies, under several names and spellings of its machine as well. It gets no reader ' +
    'of two seeds or more to accept its answer, one seed alone is trusted and never verified, and a wrong `trust` is refused before anything is sent.',
  async run() {
    await using scans = await startScans({ svNames: NAMES, entries: [ENTRY] })
    /** The liar lists itself as all super-validators, and answers as each of them. */
    const [liar = '', ...honest] = scans.urls
    const all = NAMES.map((svName) => ({ svName, publicUrl: liar }))
    const spelt = (host: string) => liar.replace('127.0.0.1', host)
    const aliases = ['localhost', '127.1', '0x7f000001', 'a.localhost'].map(spelt)
    const ask = async (options: SpliceScanOptions): Promise<string> => {
      try {
        await using scan = createSpliceScan({ timeoutMs: 3_000, ...options })
        const outcome = await scan.names.lookup(ALICE)
        if (outcome.kind !== 'proven') return outcome.kind
        return `${outcome.basis} ${outcome.value?.party === PARTY ? 'truth' : 'lie'}`
      } catch (error) {
        return (error as { code?: string }).code ?? String(error)
      }
    }
    const figures: Record<string, string> = {}
    let holds = true
    const expect = (what: string, got: string, wanted: RegExp) => {
      figures[what] = got
      holds &&= wanted.test(got)
    }
    const never = /^(?!votes lie)/
    scans.behave('A', lies)
    expect('one seed, which lies', await ask({ seeds: [liar] }), /^trusted/)
    scans.behave('A', (request, reply) => {
      const { status, text } = lies(request, reply) ?? reply
      if (!request.path.includes('/v0/scans')) return { status, text }
      const body = JSON.parse(text)
      return { status, text: JSON.stringify({ scans: [{ ...body.scans[0], scans: all }] }) }
    })
    expect('one seed under five names', await ask({ seeds: [liar, ...aliases] }), /^(?!votes)/)
    for (const count of [1, 2, 3]) {
      const seeds = [liar, ...aliases, ...honest.slice(0, count)]
      expect(`the liar's names and ${count} honest`, await ask({ seeds }), never)
      expect(`the liar last, of ${count + 1}`, await ask({ seeds: seeds.toReversed() }), never)
    }
    expect('four seeds', await ask({ seeds: scans.urls }), /^votes truth$/)
    const requests = () => NAMES.flatMap((name) => scans.requests(name)).length
    const before = requests()
    for (const members of [[], ['A', 'A'], ['A', 7]] as never[])
      expect(
        `trust ${JSON.stringify(members)}`,
        await ask({ seeds: scans.urls, trust: { members } }),
        /^INVALID_ARGUMENT$/,
      )
    for (const threshold of [0, 3, 1.5])
      expect(
        `trust ${threshold} of 2`,
        await ask({ seeds: scans.urls, trust: { members: ['A', 'B'], threshold } }),
        /^INVALID_ARGUMENT$/,
      )
    expect('requests for a wrong trust', String(requests() - before), /^0$/)
    return { holds, figures }
  },
}
