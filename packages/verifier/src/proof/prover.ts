// biome-ignore-all lint/performance/noBarrelFile: this is the entry point of the sub-path './state-tree'.
export {
  type ActivityRun,
  hashActivity,
  type ShownRow,
  type VerifiedRun,
  verifyRun,
} from './activity-run.ts'
export {
  append,
  EMPTY_FRONTIER,
  type Frontier,
  hashPair,
  joinSubtrees,
  type Subtree,
  subtreesOf,
  walkToRun,
} from './append-tree.ts'
export * from './prune.ts'
export { encodeProof, type ProvenRange, provenLeaves, visibleLeaves } from './range-proof.ts'
export { createStateTree, NODE_BYTES, type StateTree, type Version } from './state-tree.ts'
export { componentsOf, EMPTY_ROOT, HASH_BYTES, keyOf, type Leaf } from './tree-hash.ts'
