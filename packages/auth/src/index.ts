export { createDevelopmentToken, FIRST_ADMIN_USER } from './development-token.ts'
export { assertActAs, assertAdmin, canActAs, canReadAs, isAdmin } from './rights.ts'
export { bearerToken, createVerifier, type Verifier, type VerifierConfig } from './verifier.ts'
