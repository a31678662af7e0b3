/** Loaded before each file of tests: fails a test that declares a shorter time limit than its kind has. */
import { beforeEach } from 'vitest'

beforeEach(({ task }) => {
  const limitMs = Number(process.env['TEST_LIMIT_MS'])
  if (task.timeout < limitMs)
    throw new Error(
      `the limit of this test is ${task.timeout} ms, but every test of its kind has ${limitMs} ms: ` +
        "leave it out, or give the test a tag of a longer one, such as { tags: ['many-cases'] }",
    )
})
