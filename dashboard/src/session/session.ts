/** The session of the page: read from the hub, begun by a login, ended by a logout or by the hub. */
import type { Session } from "@flotilla/shared/dashboard";
import { type QueryClient, useQuery, useQueryClient } from "@tanstack/react-query";
import { createContext, useContext } from "react";
import { ApiError, get, post, send } from "../api/index.ts";

const sessionKey = ["session"] as const;
/** In place of the token of a session. */
const loginCsrf = "login";

/** Null: nobody is logged in. */
export function useSessionQuery() {
  return useQuery({
    queryKey: sessionKey,
    queryFn: async ({ signal }): Promise<Session | null> => {
      const code = takeLoginCode();
      if (code !== undefined) {
        const session = await post<"beginSession">("/api/v1/session", { code }, loginCsrf);
        if (session !== undefined) return session;
      }
      try {
        return await get<"session">("/api/v1/session", signal);
      } catch (thrown) {
        if (thrown instanceof ApiError && thrown.status === 401) return null;
        throw thrown;
      }
    },
  });
}

/** The code of a login link, which is removed from the address at once: it is no longer valid, and would stay in the history. */
function takeLoginCode(): string | undefined {
  const [, code] = /^#login=([\w-]+)$/.exec(location.hash) ?? [];
  if (code !== undefined) history.replaceState(null, "", location.pathname + location.search);
  return code;
}

export async function login(client: QueryClient, token: string): Promise<void> {
  const session = await post<"beginSession">("/api/v1/session", { token }, loginCsrf);
  replaceSession(client, session ?? null);
}

/** To be called when the hub answers that there is no session any more. */
export function sessionEnded(client: QueryClient): void {
  replaceSession(client, null);
}

/** Another user must not see what the one before has read. */
function replaceSession(client: QueryClient, session: Session | null): void {
  client.removeQueries({ predicate: ({ queryKey }) => queryKey[0] !== sessionKey[0] });
  client.setQueryData(sessionKey, session);
}

export const SessionContext = createContext<Session | undefined>(undefined);

/** Of a component inside SessionGate. */
export function useSession(): Session {
  const session = useContext(SessionContext);
  if (session === undefined) throw new Error("there is no session here");
  return session;
}

export function useLogout(): () => Promise<void> {
  const client = useQueryClient();
  const { csrfToken } = useSession();
  return async function logout() {
    await send("/api/v1/session", { method: "DELETE", csrfToken });
    replaceSession(client, null);
  };
}
