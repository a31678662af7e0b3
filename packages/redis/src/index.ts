export { createConnection, endConnection, openChecked, reaching } from './connection.ts'
