/** Loaded before each file of tests: adds our matchers to those of vitest. */
import { toAnswer } from '@quorumscan/testkit/to-answer'
import { expect } from 'vitest'

expect.extend({ toAnswer })
