import { expect, it } from 'vitest'
import { createEvidenceLog, type Evidence } from './evidence.ts'

/** A log compares signers and texts of statements alone. */
function evidenceOf(signer: string, number: number): Evidence {
  return {
    signer,
    statements: [{ statement: `a ${number}` }, { statement: `b ${number}` }],
  } as never
}

it('stores the first and the last sixteen pieces of a signer', () => {
  const log = createEvidenceLog()
  for (let number = 0; number < 50; number++) {
    expect(log.add(evidenceOf('sv-1', number))).toBe(true)
    if (number < 3) log.add(evidenceOf('sv-2', number))
  }
  const numbersOf = (signer: string) =>
    log
      .list()
      .filter((one) => one.signer === signer)
      .map(({ statements: [one] }) => Number(one.statement.slice(2)))
  const first = Array.from({ length: 16 }, (_, index) => index)
  expect(numbersOf('sv-1')).toEqual([...first, ...first.map((index) => 34 + index)])
  expect(numbersOf('sv-2')).toEqual([0, 1, 2])
})

it('a repeated piece displaces none', () => {
  const log = createEvidenceLog()
  for (let number = 0; number < 32; number++) log.add(evidenceOf('sv-1', number))
  const before = log.list()
  for (let count = 0; count < 40; count++) expect(log.add(evidenceOf('sv-1', 31))).toBe(false)
  expect(log.list()).toEqual(before)
})
