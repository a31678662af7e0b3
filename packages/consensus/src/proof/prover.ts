// biome-ignore-all lint/performance/noBarrelFile: this is the entry point of the sub-path './state-tree'.
export { type KeyRange, type Pruned, prune, type Range, type TreeReader } from './prune.ts'
export { encodeProof, type ProvenRange, provenLeaves, visibleLeaves } from './range-proof.ts'
export { createStateTree, NODE_BYTES, type StateTree, type Version } from './state-tree.ts'
export { componentsOf, keyOf, type Leaf } from './tree-hash.ts'
