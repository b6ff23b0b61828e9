export { noSessionCookies } from "./cookies.ts";
export { sessionErrors } from "./errors.ts";
export { createSessionKeys, runKeyRotation } from "./session-keys.ts";
export {
  type Credentials,
  claimsOf,
  createSessions,
  isSameToken,
  type NewSession,
  type Session,
  type Sessions,
} from "./sessions.ts";
