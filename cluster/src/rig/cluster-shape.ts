/** The names of services, and the largest size of a cluster. Imports nothing, so that commands start quickly. */

export const VALIDATOR = 'validator'
/** The name of the synchronizer that the validator and the control plane follow. */
export const SYNCHRONIZER = 'synchronizer'
/** The name of the control plane as a follower of the log. */
export const CONTROL_PLANE = 'control-plane'
/** More super-validators start too slowly on one machine. */
export const NODE_COUNT_MAX = 13
