/** Shows the fleet to those who are logged in, and the login to everybody else. */
import type { ReactNode } from "react";
import { ApiError } from "../api/index.ts";
import { LoginPage } from "./login-page.tsx";
import { SessionContext, useSessionQuery } from "./session.ts";

export function SessionGate({ children }: { readonly children: ReactNode }) {
  const { data: session, error, isPending, failureReason } = useSessionQuery();
  if (isPending)
    return (
      <main className="gate" aria-busy={failureReason === null}>
        {failureReason !== null && <p role="alert">{failureReason.message} Retrying …</p>}
      </main>
    );
  if (session === undefined || session === null)
    return <LoginPage failure={error instanceof ApiError ? error.message : undefined} />;
  return <SessionContext value={session}>{children}</SessionContext>;
}
