/** `@quorumscan/sdk/testing/fakes`: names and a wallet without processes. */
export { type FakeNames, fakeNames } from './fake-names.ts'
export { type FakeFailure, type FakeValidator, fakeValidator } from './fake-validator.ts'
