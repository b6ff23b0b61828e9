export { noSessionCookies } from "./cookies.ts";
export { checkIdentity, type Identity } from "./identity.ts";
export { createLoginCookies, type LoginCookies, type LoginFlow } from "./login-cookies.ts";
export { createSessionKeys, runKeyRotation } from "./session-keys.ts";
export {
  type Credentials,
  createSessions,
  isSameToken,
  type Session,
  type Sessions,
} from "./sessions.ts";
