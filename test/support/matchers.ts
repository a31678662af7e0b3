/** Loaded before each file of tests: the matchers that we have in addition to vitest's. */
import { toAnswer } from '@quorumscan/testkit/to-answer'
import { expect } from 'vitest'

expect.extend({ toAnswer })
