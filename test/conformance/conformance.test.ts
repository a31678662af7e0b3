/** All operations, and clients of other projects that are unchanged, on one network of four nodes. */
import { describe } from 'vitest'
import { describeBoundaries } from './suites/boundaries.ts'
import { describeLedgerClient } from './suites/ledger-client.ts'
import { describeLedgerInterface } from './suites/ledger-interface.ts'
import { describeOperations } from './suites/operations.ts'
import { describePaging } from './suites/paging.ts'
import { describeSpliceClient } from './suites/splice-client.ts'
import { describeSpliceSdk } from './suites/splice-sdk.ts'
import { describeWalletSdk } from './suites/wallet-sdk.ts'

describe('each operation', { tags: ['rest'] }, describeOperations)
describe('each bound of a request', { tags: ['rest'] }, describeBoundaries)
describe('each list that has pages', { tags: ['rest'] }, describePaging)
describe('@canton-network/core-splice-client, unchanged,', describeSpliceClient)
describe('the reader of Splice networks', { tags: ['rest'] }, describeSpliceSdk)
describe('@canton-network/core-ledger-client, unchanged,', describeLedgerClient)
describe('@canton-network/wallet-sdk, unchanged,', { tags: ['rest'] }, describeWalletSdk)
describe('the ledger interface', describeLedgerInterface)
