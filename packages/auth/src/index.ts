export { createDevelopmentToken, FIRST_ADMIN_USER } from './development-token.ts'
export {
  type ActingRefusal,
  assertActAs,
  assertAdmin,
  canActAs,
  canReadAs,
  isAdmin,
  refusalToAct,
} from './rights.ts'
export { bearerToken, createVerifier, type Verifier, type VerifierConfig } from './verifier.ts'
