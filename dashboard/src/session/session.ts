/** The session of the page: read from the hub, begun by a login, ended by a logout or by the hub. */
import { loginCsrfToken, type Session } from "@flotilla/shared/dashboard";
import { type QueryClient, useQuery, useQueryClient } from "@tanstack/react-query";
import { createContext, useContext, useEffect } from "react";
import { ApiError, get, isTransient, post, send, unauthorizedEvent } from "../api/index.ts";

const sessionKey = ["session"] as const;

/** Null: nobody is logged in. */
export function useSessionQuery() {
  const client = useQueryClient();
  const query = useQuery({
    queryKey: sessionKey,
    // Without its signal: a login that was sent has used its code, so its answer is never dropped.
    queryFn: () => beginOrReadSession(),
  });
  useEffect(() => {
    const end = () => sessionEnded(client);
    // A login link that is opened in this very tab changes the fragment alone.
    const open = () => {
      if (loginCode() === undefined) return;
      removeOtherQueries(client);
      void client.resetQueries({ queryKey: sessionKey });
    };
    addEventListener(unauthorizedEvent, end);
    addEventListener("hashchange", open);
    return () => {
      removeEventListener(unauthorizedEvent, end);
      removeEventListener("hashchange", open);
    };
  }, [client]);
  useSameInAllTabs(query.data);
  return query;
}

/** The code of a login link: in the fragment, so that it is in no log. */
function loginCode(): string | undefined {
  return /^#login=([\w-]+)$/.exec(location.hash)?.[1];
}

/** Throws ApiError. */
async function beginOrReadSession(): Promise<Session | null> {
  const code = loginCode();
  if (code === undefined) return await readSession();
  // It is valid once, and would stay in the history; as long as the hub does not answer, a retry needs it.
  const forget = () => history.replaceState(null, "", location.pathname + location.search);
  try {
    const session = await post<"beginSession">("/api/v1/session", { code }, loginCsrfToken);
    forget();
    return session ?? null;
  } catch (thrown) {
    if (isTransient(thrown)) throw thrown;
    forget();
    const session = await readSession();
    if (session === null) throw thrown;
    return session;
  }
}

async function readSession(): Promise<Session | null> {
  try {
    return await get<"session">("/api/v1/session");
  } catch (thrown) {
    if (thrown instanceof ApiError && thrown.status === 401) return null;
    throw thrown;
  }
}

/** All tabs share the cookies: one with another session would show one user what another one may see. */
function useSameInAllTabs(session: Session | null | undefined): void {
  const id = session === undefined ? undefined : (session?.csrfToken ?? "");
  useEffect(() => {
    if (id === undefined) return;
    const tabs = new BroadcastChannel("flotilla-session");
    tabs.postMessage(id);
    tabs.addEventListener("message", ({ data }) => {
      if (data !== id) location.reload();
    });
    return () => tabs.close();
  }, [id]);
}

export async function login(client: QueryClient, token: string): Promise<void> {
  const session = await post<"beginSession">("/api/v1/session", { token }, loginCsrfToken);
  replaceSession(client, session ?? null);
}

/** To be called when the hub answers that there is no session any more. */
export function sessionEnded(client: QueryClient): void {
  if (client.getQueryData(sessionKey)) replaceSession(client, null);
}

/** Another user must not see what the one before has read. */
function replaceSession(client: QueryClient, session: Session | null): void {
  removeOtherQueries(client);
  client.setQueryData(sessionKey, session);
}

function removeOtherQueries(client: QueryClient): void {
  client.removeQueries({ predicate: ({ queryKey }) => queryKey[0] !== sessionKey[0] });
}

export const SessionContext = createContext<Session | undefined>(undefined);

/** For components inside SessionGate. */
export function useSession(): Session {
  const session = useContext(SessionContext);
  if (session === undefined) throw new Error("there is no session here");
  return session;
}

/** Throws ApiError. */
export function useLogout(): () => Promise<void> {
  const client = useQueryClient();
  const { csrfToken } = useSession();
  return async function logout() {
    await send("/api/v1/session", { method: "DELETE", csrfToken });
    replaceSession(client, null);
  };
}
