import { fromHex, toHex, utf8 } from '@quorumscan/base'
import type { CheckedEntry, EntryRefusal } from '@quorumscan/log'
import type { DeepPartial } from 'cosmjs-types/helpers'
import {
  MisbehaviorType,
  Request,
  type Response,
  ResponseApplySnapshotChunk_Result,
  ResponseOfferSnapshot_Result,
  ResponseProcessProposal_ProposalStatus,
} from 'cosmjs-types/tendermint/abci/types'
import { describe, expect, it } from 'vitest'
import { type ApplicationOptions, createApplication } from './application.ts'
import { listedSnapshots } from './block-snapshots.ts'
import { type BlockGroup, genesisTip, orderBlock } from './blocks.ts'

const START = 1_700_000_000_000_000
const genesisHash = 'ab'.repeat(32)
const chainId = `qs-${'ab'.repeat(20)}`
const keys = ['11'.repeat(32), '22'.repeat(32)]

function setUp(options: Partial<ApplicationOptions> = {}) {
  const published: BlockGroup[] = []
  const application = createApplication({
    genesisHash,
    validators: keys.map((key) => ({ key })),
    limits: { bytesMax: 10_000, contractsMax: 100 },
    tip: genesisTip({ hash: genesisHash, recordTime: START }),
    checkEntry: (bytes): CheckedEntry => ({
      kind: 'entry',
      entryHash: toHex(bytes),
      participant: '',
      notAfter: START + 60_000_000,
      bytesUnits: 1,
      contractsUnits: 0,
      contractCounts: new Map([[1, 0]]),
      adds: true,
      oversize: null,
    }),
    isOrdered: () => false,
    mempool: { check: () => null, entriesOf: (bundles) => [...bundles] },
    isPeer: (nodeId) => nodeId === 'friend',
    onMisbehavior: async () => {},
    blockVersionAt: () => 1,
    publish: async (group) => {
      published.push(group)
    },
    retainHeight: () => 0,
    anchors: () => [],
    groupOf: async () => null,
    wantedHeight: () => null,
    startLogFrom: async () => expect.fail('not called'),
    ...options,
  })
  const ask = (request: DeepPartial<Request>): Promise<Response> =>
    application.answer(Request.decode(Request.encode(Request.fromPartial(request)).finish()))
  const finalize = (height: number, ...texts: string[]) =>
    ask({
      finalizeBlock: {
        height: BigInt(height),
        time: { seconds: BigInt(START / 1_000_000), nanos: 7999 },
        txs: texts.map(utf8),
      },
    })
  const where = async () => {
    const { info } = await ask({ info: {} })
    return {
      height: Number(info?.lastBlockHeight),
      hash: toHex(info?.lastBlockAppHash ?? new Uint8Array()),
    }
  }
  return { application, ask, finalize, where, published }
}

const validatorUpdates = (...all: readonly string[]) =>
  all.map((key) => ({ power: 1n, pubKey: { ed25519: fromHex(key) } }))

describe('a block', () => {
  it('with duplicate votes is reported when it is decided, and no other block is', async () => {
    const told: number[] = []
    const { ask } = setUp({
      onMisbehavior: async (height) => {
        told.push(height)
      },
    })
    const time = { seconds: BigInt(START / 1_000_000), nanos: 0 }
    for (const [height, type] of [
      [1n, MisbehaviorType.DUPLICATE_VOTE],
      [1n, MisbehaviorType.LIGHT_CLIENT_ATTACK],
    ] as const)
      await ask({ finalizeBlock: { height, time, misbehavior: [{ type }] } })
    expect(told).toEqual([1])
  })

  it('is published, and becomes the tip, when it is committed', async () => {
    const { ask, finalize, where, published } = setUp()
    const { finalizeBlock } = await finalize(1, 'a', 'b')
    expect(finalizeBlock?.txResults.map(({ code }) => code)).toEqual([0, 0])
    expect(published).toEqual([])
    await ask({ commit: {} })
    expect(published).toMatchObject([
      {
        firstOffset: 1,
        lastOffset: 2,
        entries: [{ recordTime: START + 7 }, { recordTime: START + 8 }],
      },
    ])
    expect(await where()).toEqual({
      height: 1,
      hash: toHex(finalizeBlock?.appHash ?? new Uint8Array()),
    })
  })

  it('that was not committed has no effect, and may be decided again', async () => {
    const { ask, finalize, where, published } = setUp()
    await finalize(1, 'a')
    expect(await where()).toEqual({ height: 0, hash: genesisHash })
    await expect(ask({ commit: {} })).rejects.toThrow('nothing was decided')
    // A repeated block of one height replaces the first.
    await finalize(1, 'a')
    await finalize(1, 'b')
    await ask({ commit: {} })
    expect(published.map(({ entries }) => entries.map(({ bytes }) => bytes))).toEqual([[utf8('b')]])
  })

  it('does not become the tip before it is published', async () => {
    let store = () => {}
    const stored = new Promise<void>((resolve) => {
      store = resolve
    })
    const { application, ask, finalize } = setUp({ publish: () => stored })
    await finalize(1, 'a')
    const committed = ask({ commit: {} })
    expect(application.tip().height).toBe(0)
    store()
    await committed
    expect(application.tip().height).toBe(1)
  })

  it('is proposed and checked by the version in force at its start', async () => {
    const asked: number[] = []
    const { ask, finalize } = setUp({
      blockVersionAt: (recordTime) => {
        asked.push(recordTime)
        return 1
      },
    })
    await finalize(1, 'a', 'b')
    await ask({ commit: {} })
    const time = { seconds: BigInt(START / 1_000_000), nanos: 0 }
    const txs = [utf8('c')]
    const prepared = await ask({ prepareProposal: { txs, time, maxTxBytes: 1000n } })
    expect(prepared.prepareProposal?.txs).toEqual(txs)
    const { ACCEPT } = ResponseProcessProposal_ProposalStatus
    const processed = await ask({ processProposal: { txs, time } })
    expect(processed.processProposal).toMatchObject({ status: ACCEPT })
    expect(asked).toEqual([START + 8, START + 8])
  })

  it('is proposed and accepted only empty if its version is unknown', async () => {
    const { ask } = setUp({ blockVersionAt: () => 2 })
    const time = { seconds: BigInt(START / 1_000_000), nanos: 0 }
    const txs = [utf8('c')]
    const prepared = await ask({ prepareProposal: { txs, time, maxTxBytes: 1000n } })
    expect(prepared.prepareProposal?.txs).toEqual([])
    const { ACCEPT, REJECT } = ResponseProcessProposal_ProposalStatus
    const statusOf = async (entries: Uint8Array[]) =>
      (await ask({ processProposal: { txs: entries, time } })).processProposal?.status
    expect([await statusOf([]), await statusOf(txs)]).toEqual([ACCEPT, REJECT])
  })

  it('is stored once, even if a restarted engine repeats it meanwhile', async () => {
    const stores: (() => void)[] = []
    const publish = () => new Promise<void>((resolve) => stores.push(resolve))
    const { application, ask, finalize, where } = setUp({ publish })
    await finalize(1, 'a')
    const first = ask({ commit: {} })
    expect((await where()).height).toBe(0)
    await finalize(1, 'a')
    const second = ask({ commit: {} })
    for (const store of stores) store()
    await Promise.all([first, second])
    expect(application.tip()).toMatchObject({ height: 1, offset: 1 })
    await expect(ask({ commit: {} })).rejects.toThrow('nothing was decided')
  })

  it('that was decided is accepted, whatever its bytes', async () => {
    const refusal: EntryRefusal = { code: 'INVALID_ARGUMENT', message: 'no' }
    const { ask, finalize, published } = setUp({
      checkEntry: () => ({ kind: 'refused', refusal }),
      mempool: { check: () => refusal, entriesOf: () => [] },
    })
    await finalize(1, 'junk')
    await ask({ commit: {} })
    expect(published).toHaveLength(1)
  })
})

describe('the network of an engine', () => {
  it('is accepted if its name and members match', async () => {
    const { ask } = setUp()
    const { initChain } = await ask({
      initChain: { chainId, validators: validatorUpdates(...keys.toReversed()) },
    })
    expect(toHex(initChain?.appHash ?? new Uint8Array())).toBe(genesisHash)
  })

  it.each([
    ['another name', 'qs-other', validatorUpdates(...keys)],
    ['a missing member', chainId, validatorUpdates(keys[0] ?? '')],
    ['another member', chainId, validatorUpdates(keys[0] ?? '', '33'.repeat(32))],
    [
      'a member of more weight',
      chainId,
      validatorUpdates(...keys).map((one) => ({ ...one, power: 2n })),
    ],
  ])('with %s is refused', async (_, name, validators) => {
    await expect(setUp().ask({ initChain: { chainId: name, validators } })).rejects.toThrow(
      /network|validators/,
    )
  })

  it('admits known peer ids from any address', async () => {
    const { ask } = setUp()
    const code = async (path: string) => (await ask({ query: { path } })).query?.code
    expect(await code('/p2p/filter/addr/10.0.0.1:99')).toBe(0)
    expect(await code('/p2p/filter/id/friend')).toBe(0)
    expect(await code('/p2p/filter/id/stranger')).not.toBe(0)
    expect(await code('/anything/friend')).not.toBe(0)
  })
})

describe('an entry', () => {
  it('is refused with its error code, and a recheck is distinguished', async () => {
    const asked: boolean[] = []
    const { ask } = setUp({
      mempool: {
        check: (_, { isRecheck = false } = {}) => {
          asked.push(isRecheck)
          return isRecheck ? null : { code: 'RATE_LIMITED', message: 'too many' }
        },
        entriesOf: () => [],
      },
    })
    const first = await ask({ checkTx: { tx: utf8('a'), type: 0 } })
    expect(first.checkTx).toMatchObject({ code: 1, codespace: 'RATE_LIMITED', log: 'too many' })
    expect((await ask({ checkTx: { tx: utf8('a'), type: 1 } })).checkTx?.code).toBe(0)
    expect(asked).toEqual([false, true])
  })
})

describe('a log that starts with a sync anchor', () => {
  const start = genesisTip({ hash: genesisHash, recordTime: START })
  const made = orderBlock(start, { height: 1, timeMicros: START + 9, entries: [utf8('a')] })
  const { appHash } = made.tip
  const offered = { height: 40, appHash }

  function setUpAnew(wantedHeight: () => number | null = () => 40) {
    const begun: unknown[] = []
    const one = setUp({
      wantedHeight,
      async startLogFrom(bytes, block) {
        begun.push([toHex(bytes), block])
        return { ...made.tip, height: block.height }
      },
    })
    const [snapshot] = listedSnapshots([offered]).snapshots
    const offer = async () =>
      (await one.ask({ offerSnapshot: { snapshot: snapshot ?? {}, appHash: fromHex(appHash) } }))
        .offerSnapshot?.result
    const apply = async (chunk: Uint8Array) =>
      (await one.ask({ applySnapshotChunk: { index: 0, chunk, sender: 'peer' } }))
        .applySnapshotChunk
    return { ...one, begun, offer, apply }
  }

  it('continues after the group of its anchor', async () => {
    const { offer, apply, where, begun, finalize, ask, published } = setUpAnew()
    expect(await offer()).toBe(ResponseOfferSnapshot_Result.ACCEPT)
    expect(await apply(made.group.bytes)).toMatchObject({
      result: ResponseApplySnapshotChunk_Result.ACCEPT,
    })
    expect(begun).toEqual([[toHex(made.group.bytes), offered]])
    expect(await where()).toEqual({ height: 40, hash: appHash })
    await finalize(41, 'b')
    await ask({ commit: {} })
    expect(published).toMatchObject([{ firstOffset: 2, previousHash: made.tip.hash }])
  })

  it('refuses a group that does not match, and fetches it from another peer', async () => {
    const { offer, apply, where, begun } = setUpAnew()
    await offer()
    const changed = Uint8Array.from(made.group.bytes)
    changed[changed.length - 1] = 0
    for (const chunk of [changed, new Uint8Array(0)])
      expect(await apply(chunk)).toEqual({
        result: ResponseApplySnapshotChunk_Result.RETRY,
        refetchChunks: [0],
        rejectSenders: ['peer'],
      })
    expect([begun, await where()]).toEqual([[], { height: 0, hash: genesisHash }])
    await apply(made.group.bytes)
    expect(await where()).toEqual({ height: 40, hash: appHash })
  })

  it('is refused if this member does not need one', async () => {
    const { offer, apply } = setUpAnew(() => null)
    expect(await offer()).toBe(ResponseOfferSnapshot_Result.REJECT)
    await expect(apply(made.group.bytes)).rejects.toThrow('no snapshot was accepted')
  })
})

it('lists its sync anchors as snapshots, and returns their groups', async () => {
  const block = { height: 40, appHash: 'cd'.repeat(32) }
  const group = utf8('group')
  const { ask } = setUp({
    anchors: () => [block],
    groupOf: async (height) => (height === 40 ? group : null),
  })
  expect((await ask({ listSnapshots: {} })).listSnapshots).toEqual(listedSnapshots([block]))
  const load = async (height: bigint) =>
    (await ask({ loadSnapshotChunk: { height, format: 1 } })).loadSnapshotChunk?.chunk
  expect([await load(40n), await load(41n)]).toEqual([group, new Uint8Array(0)])
})

it('returns the height to retain to its engine with each commit', async () => {
  const { ask, finalize } = setUp({ retainHeight: () => 7 })
  await finalize(1, 'a')
  expect((await ask({ commit: {} })).commit?.retainHeight).toBe(7n)
})

it('answers pings, lists no snapshots, and refuses unknown requests', async () => {
  const { ask } = setUp()
  expect((await ask({ echo: { message: 'hello' } })).echo?.message).toBe('hello')
  expect((await ask({ flush: {} })).flush).toEqual({})
  expect((await ask({ listSnapshots: {} })).listSnapshots?.snapshots).toEqual([])
  await expect(ask({ extendVote: {} })).rejects.toThrow('extendVote')
})
