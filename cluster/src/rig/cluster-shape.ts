/** What a cluster is made of, as whoever only asks about one knows it: it imports nothing. */

/** Their names as services. The synchronizer is the one that the validator and the control plane follow. */
export const VALIDATOR = 'validator'
export const SYNCHRONIZER = 'synchronizer'
/** Its name among those who follow the log. */
export const CONTROL_PLANE = 'control-plane'
/** More SVs than this do not start on one machine in a useful time. */
export const NODE_COUNT_MAX = 13
