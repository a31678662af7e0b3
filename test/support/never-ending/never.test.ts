/** Part of no project: test/tidy/time-limits.test.ts runs it with the limits of the real configuration. */
import { untilTrue } from '@quorumscan/testkit'
import { beforeEach, describe, expect, it } from 'vitest'

describe('what never ends', () => {
  it('a test whose promise never resolves', () => new Promise(() => {}))

  it('a wait whose condition never holds', () => untilTrue('the moon to land', () => false))

  it('a poll whose condition never holds', () => expect.poll(() => 'the sun').toBe('the moon'))

  it('a test with a tag has the limit of that tag', { tags: ['many-cases'] }, ({ task }) => {
    expect(task.timeout).toBe(15_000)
  })

  it('a test that declares a shorter limit', { timeout: 1 }, () => {})

  describe('in a hook', () => {
    beforeEach(() => new Promise(() => {}))
    it('a test whose hook never resolves', () => {})
  })
})
