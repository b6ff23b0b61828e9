export { noSessionCookies } from "./cookies.ts";
export { sessionErrors } from "./errors.ts";
export { createSessionKeys, runKeyRotation } from "./session-keys.ts";
export {
  type Credentials,
  createSessions,
  isSameToken,
  type Session,
  type Sessions,
} from "./sessions.ts";
