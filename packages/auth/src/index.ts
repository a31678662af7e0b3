export {
  createDevelopmentToken,
  type DevelopmentTokenInput,
  FIRST_ADMIN_USER,
} from './development-token.ts'
export {
  assertActAs,
  assertAdmin,
  canActAs,
  canReadAs,
  isAdmin,
} from './rights.ts'
export {
  bearerToken,
  createVerifier,
  type VerifiedToken,
  type Verifier,
  type VerifierConfig,
  type VerifierDeps,
} from './verifier.ts'
