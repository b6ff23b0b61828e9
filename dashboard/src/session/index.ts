export { Logo } from "./logo.tsx";
export { sessionEnded, useLogout, useSession } from "./session.ts";
export { SessionGate } from "./session-gate.tsx";
