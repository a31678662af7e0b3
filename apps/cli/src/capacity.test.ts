import { expect, it } from 'vitest'
import { describeCapacity } from './capacity.ts'

it('shows the sizes of a member on 80 columns', () => {
  const lines = describeCapacity(
    'sv-1',
    {
      offset: 20_000,
      names: 212,
      users: 3,
      entriesPerDay: 4_000,
      offsetAhead: 140_000,
      rateSince: 1_900_000_000_000_000,
      growths: [
        { what: 'memory', bytes: 20_000_000, bytesEach: 1_000, bytesAhead: 140_000_000 },
        { what: 'names', bytes: 300_000, bytesEach: 1_415, bytesAhead: 450_000 },
        { what: 'users', bytes: 1_200, bytesEach: 400, bytesAhead: 2_400 },
        { what: 'file', bytes: 40_000_000, bytesEach: 2_000, bytesAhead: 280_000_000 },
        { what: 'blocks', bytes: 500_000_000, bytesEach: 11_571, bytesAhead: 1_157_100_000 },
      ],
      memory: { bytesMax: 4_294_967_296, days: 995.4 },
      disk: { bytesFree: 12_000_000_000, days: null },
    },
    30,
  )
  expect(lines).toEqual([
    'sv-1 has 20000 entries, 212 names, 3 users; 4000 entries a day since',
    '2030-03-17T17:46:40.000000Z.',
    '',
    '                        now           each                  in 30 days, at most',
    'entries                 20000                               140000',
    'memory of Redis         19.1 MiB      0.977 KiB an entry    134 MiB',
    '  of it for names       293 KiB       1.38 KiB a name       439 KiB',
    '  of it for users       1.17 KiB      400 B a user          2.34 KiB',
    'file of Redis           38.1 MiB      1.95 KiB an entry     267 MiB',
    'blocks of the engine    477 MiB       11.3 KiB a block      1.08 GiB',
    '',
    '4.00 GiB of memory suffice for 995 days.',
    '11.2 GiB of free disk suffice for more than a hundred years.',
  ])
})
