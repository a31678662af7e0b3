/** @module-tag thorough */

import { describe, expect, it } from 'vitest'
import { importMutant, type Mutation } from '../testing/mutant.ts'
import { activitiesQuery } from './activities.ts'
import * as reader from './index.ts'
import { queryOf } from './query-of-request.ts'
import {
  documentOf,
  findFlaws,
  honestRun,
  network,
  page,
  truth,
} from './testing/activity-forger.ts'
import { createDice } from './testing/dice.ts'

const READER = 'packages/verifier/src/certified/index.ts'

const MUTANTS: readonly Mutation[] = [
  {
    mistake: 'the root is not compared',
    file: 'packages/verifier/src/proof/activity-run.ts',
    text: 'if (!bytesEqual(root, fromHex(tree.root)) || usedCount',
    by: 'if (root === null || usedCount',
  },
  {
    mistake: 'hashes may be left over',
    file: 'packages/verifier/src/proof/activity-run.ts',
    text: ' || usedCount !== hashes.length',
    by: '',
  },
  {
    mistake: 'rows may lie after the end of the tree',
    file: 'packages/verifier/src/proof/activity-run.ts',
    text: 'end > size || !isInPlace',
    by: '!isInPlace',
  },
  {
    mistake: 'a run may have holes',
    file: 'packages/verifier/src/proof/activity-run.ts',
    text: 'if (end > size || !isInPlace ||',
    by: 'if (end > size ||',
  },
  {
    mistake: 'the number of rows is not checked',
    file: 'packages/verifier/src/proof/activity-run.ts',
    text: ' || rows.length !== beforeCount + inside.length + behindCount',
    by: '',
  },
  {
    mistake: 'the neighbor after the run may be missing',
    file: 'packages/verifier/src/proof/activity-run.ts',
    text: 'Number(end < size)',
    by: 'Number(end < size && rows.length > end - first + 1)',
  },
  {
    mistake: 'the time of a row is not hashed',
    file: 'packages/verifier/src/proof/activity-run.ts',
    text: 'u64(recordTime)',
    by: 'u64(0)',
  },
  {
    mistake: 'the event of a row is not hashed',
    file: 'packages/verifier/src/proof/activity-run.ts',
    text: 'utf8(eventId)',
    by: "utf8('')",
  },
  {
    mistake: 'leaves are hashed as pairs are',
    file: 'packages/verifier/src/proof/append-tree.ts',
    text: 'bytes.set(data, 1)',
    by: 'bytes[0] = 1\n  bytes.set(data, 1)',
  },
  {
    mistake: 'the proof has many spellings',
    file: 'packages/verifier/src/certified/activities.ts',
    text: '=== proof) return proven',
    by: '!== null) return proven',
  },
  {
    mistake: 'a page may have more rows than were asked for',
    file: 'packages/verifier/src/certified/activities.ts',
    text: 'run.rows.length <= pageSize && ',
    by: '',
  },
  {
    mistake: 'any run is a page',
    file: 'packages/verifier/src/certified/activities.ts',
    text: ' && isPage(run, page, expiredUntil)',
    by: '',
  },
  {
    mistake: 'nothing goes',
    file: 'packages/verifier/src/certified/activities.ts',
    text: 'row.recordTime > expiredUntil',
    by: 'row.recordTime > 0',
  },
  {
    mistake: 'a row is there when it goes',
    file: 'packages/verifier/src/certified/activities.ts',
    text: 'row.recordTime > expiredUntil',
    by: 'row.recordTime >= expiredUntil',
  },
  {
    mistake: 'expired rows may be shown',
    file: 'packages/verifier/src/certified/activities.ts',
    text: 'if (!rows.every(isVisible)) return false',
    by: '',
  },
  {
    mistake: 'a page may begin with the row that it comes after',
    file: 'packages/verifier/src/certified/activities.ts',
    text: 'after === null || eventId > after',
    by: 'after === null || eventId >= after',
  },
  {
    mistake: 'a page may begin later',
    file: 'packages/verifier/src/certified/activities.ts',
    text: 'return isFirst && rows.every(isAsked)',
    by: 'return rows.every(isAsked)',
  },
  {
    mistake: 'a page may begin earlier',
    file: 'packages/verifier/src/certified/activities.ts',
    text: 'return isFirst && rows.every(isAsked) && (rows',
    by: 'return isFirst && (rows',
  },
  {
    mistake: 'a page may be empty before the end',
    file: 'packages/verifier/src/certified/activities.ts',
    text: ' && (rows.length > 0 || behind === null)',
    by: '',
  },
  {
    mistake: 'a page backwards may begin with the row that it comes before',
    file: 'packages/verifier/src/certified/activities.ts',
    text: 'after === null || eventId < after',
    by: 'after === null || eventId <= after',
  },
  {
    mistake: 'a page backwards may begin earlier',
    file: 'packages/verifier/src/certified/activities.ts',
    text: 'return isLast && rows.every(isAsked)',
    by: 'return rows.every(isAsked)',
  },
  {
    mistake: 'a page backwards may begin later',
    file: 'packages/verifier/src/certified/activities.ts',
    text: 'return isLast && rows.every(isAsked) && (rows',
    by: 'return isLast && (rows',
  },
  {
    mistake: 'a page backwards may be empty before the beginning',
    file: 'packages/verifier/src/certified/activities.ts',
    text: ' && (rows.length > 0 || isEnd)',
    by: '',
  },
  {
    mistake: 'a page is empty although the row before has not expired',
    file: 'packages/verifier/src/certified/activities.ts',
    text: 'const isGone = before === null || !isVisible(before)',
    by: 'const isGone = before === null || isAsked(before)',
  },
  {
    mistake: 'a row may be that of another place',
    file: 'packages/verifier/src/certified/activities.ts',
    text: "if (memberOf(value, 'event_id') === eventId)",
    by: 'if (eventId)',
  },
  {
    mistake: 'rows come in one order whatever was asked for',
    file: 'packages/verifier/src/certified/activities.ts',
    text: 'activities.reverse()',
    by: 'activities',
  },
]

describe('a page of activities', () => {
  it('is accepted if it is true, and no forgery is', {
    tags: ['many-cases'],
  }, async () => {
    const flaws = []
    for await (const flaw of findFlaws(reader)) flaws.push(flaw)
    expect(flaws).toEqual([])
  })

  it('is refused if one byte of its document was changed, removed or doubled', async () => {
    const roll = createDice()
    const verifier = reader.createCertifiedVerifier(network)
    const asked = page(2, '0000000000000950:0000')
    const bytes = Buffer.from(documentOf(truth, honestRun(truth.rows, asked)))
    expect(await verifier.verify(bytes, activitiesQuery(asked, network), 'weak')).toMatchObject({
      answer: { activities: [{ event_id: '0000000000000950:0001' }, {}] },
    })
    for (const [index, byte] of bytes.entries()) {
      const change = Buffer.from([[byte ^ (1 << roll(8))], [], [byte, byte]][roll(3)] ?? [])
      const changed = Buffer.concat([bytes.subarray(0, index), change, bytes.subarray(index + 1)])
      if (changed.equals(bytes)) continue
      const verified = verifier.verify(changed, activitiesQuery(asked, network), 'weak')
      await expect(verified, `${index}: ${changed}`).rejects.toMatchObject({ name: 'InvalidProof' })
    }
  })

  it.each(MUTANTS)(
    'is refused by a reader without the mistake: $mistake',
    {
      tags: ['rest'],
    },
    async (mutant) => {
      const { value: flaw } = await findFlaws(
        await importMutant<typeof reader>(READER, mutant),
      ).next()
      expect(flaw).toBeDefined()
    },
  )

  it('is refused at an earlier offset than the page before it in the same walk', async () => {
    const verifier = reader.createCertifiedVerifier(network)
    const asked = page(2, null)
    const document = documentOf(truth, honestRun(truth.rows, asked))
    const verify = (offsetMin: number) =>
      verifier.verify(document, activitiesQuery({ ...asked, offsetMin }, network), 'weak')
    const { offset } = await verify(0)
    await expect(verify(offset)).resolves.toMatchObject({ offset })
    await expect(verify(offset + 1)).rejects.toMatchObject({
      name: 'InvalidProof',
      message: 'a walk never goes back to an earlier offset',
    })
  })

  it('is refused as an invalid proof if it is nested deeply', async () => {
    const verifier = reader.createCertifiedVerifier(network)
    const asked = page(2, null)
    const document = documentOf(truth, honestRun(truth.rows, asked))
    const deep = '['.repeat(50_000) + ']'.repeat(50_000)
    for (const member of ['state', 'run']) {
      const nested = document.replace(new RegExp(`"${member}":.*$`), `"${member}":${deep}}}`)
      const verified = verifier.verify(nested, activitiesQuery(asked, network), 'weak')
      await expect(verified, member).rejects.toMatchObject({ name: 'InvalidProof' })
    }
  })

  it('is requested with its parameters and no others', () => {
    const whole = { page_size: 1, begin_after_id: null, sort_order: 'asc' }
    const ask = (change: object) => () =>
      queryOf({ operation: 'listActivities', parameters: { ...whole, ...change } }, network)
    expect(ask({ begin_after_id: '0000000000000001:0000', sort_order: 'desc' })).not.toThrow()
    for (const change of [
      { page_size: 0 },
      { page_size: '1' },
      { begin_after_id: '' },
      { begin_after_id: 'x' },
      { sort_order: null },
      { sort_order: 'ascending' },
      { more: 1 },
    ])
      expect(ask(change), JSON.stringify(change)).toThrow(RangeError)
  })
})
