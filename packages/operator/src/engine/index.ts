/** The program CometBFT: where it is, its installation, and the vote of a member that lost its state. */
export { ENGINE_PROGRAM, ENGINE_VERSION, findEngine, installEngine } from './find-engine.ts'
export { forceVote } from './force-vote.ts'
