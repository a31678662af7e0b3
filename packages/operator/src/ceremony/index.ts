/** What the operators of a new network do together: members with their keys, and the genesis that they make. */
export { createGenesis, hashGenesis, logGenesisOf } from '../genesis.ts'
export { describeCoin, meaningOfCoin } from './describe-coin.ts'
export { describeGenesis } from './describe-genesis.ts'
export { makeMember, memberKeyFile, readMember, reissueMember } from './member.ts'
export { type GenesisOverrides, parseSettings, rulesOf } from './rules.ts'
