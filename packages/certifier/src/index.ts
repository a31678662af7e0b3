export {
  CERTIFIED_HEADERS,
  type CertifiedAnswers,
  createCertifiedAnswers,
  isCertified,
} from './certified-answers.ts'
export { type Certifier, createCertifier } from './certifier.ts'
