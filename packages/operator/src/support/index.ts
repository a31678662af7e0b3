/** What an operator gives to those who help. */
export { type Bundle, type BundleOptions, writeSupportBundle } from './support-bundle.ts'
