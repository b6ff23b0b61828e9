/** Login with a token of the hub's API server or, where the hub has an OpenID provider, there. */
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { type SubmitEvent, useId, useState } from "react";
import { get, messageOf } from "../api/index.ts";
import { Logo } from "./logo.tsx";
import { login } from "./session.ts";
import "./login-page.css";

/** The address of a request that leads to the provider, and back to this page. */
function providerAddress(): string {
  return `/api/v1/login/oidc?return=${encodeURIComponent(location.pathname + location.search)}`;
}

export function LoginPage({ failure }: { readonly failure: string | undefined }) {
  const client = useQueryClient();
  const { data } = useQuery({
    queryKey: ["login"],
    queryFn: ({ signal }) => get<"loginMethods">("/api/v1/login", signal),
  });
  const [ownProblem, setProblem] = useState(failure);
  // The hub also answers why the login at the provider has failed.
  const problem = ownProblem ?? data?.failure?.message;
  const [isBusy, setBusy] = useState(false);
  const [token, setToken] = useState("");
  const [fieldId, helpId] = [useId(), useId()];

  async function submit(event: SubmitEvent<HTMLFormElement>): Promise<void> {
    event.preventDefault();
    setBusy(true);
    try {
      await login(client, token.trim());
    } catch (thrown) {
      setProblem(messageOf(thrown));
      setBusy(false);
    }
  }

  return (
    <main className="login">
      <form className="login-card" onSubmit={(event) => void submit(event)}>
        <h1>
          <Logo /> Flotilla
        </h1>
        <p>Log in with a token for the API server of the hub.</p>
        {problem !== undefined && (
          <p className="login-problem" role="alert">
            {problem}
          </p>
        )}
        <label htmlFor={fieldId}>Token</label>
        <input
          id={fieldId}
          type="password"
          autoComplete="off"
          aria-describedby={helpId}
          value={token}
          onChange={(event) => setToken(event.target.value)}
          required
        />
        <button type="submit" className="button button-primary" disabled={isBusy}>
          {isBusy ? "Logging in …" : "Log in"}
        </button>
        {data?.methods.includes("oidc") === true && (
          <a className="button" href={providerAddress()}>
            Log in with your organisation
          </a>
        )}
        <p id={helpId} className="login-help">
          The token of a ServiceAccount: <code>kubectl create token NAME -n NAMESPACE</code>. You
          see what that account may list. On a local fleet, <code>npx flotilla dashboard</code>{" "}
          prints a link that logs you in.
        </p>
        <p className="login-version">Hub {data?.hub.version ?? "…"}</p>
      </form>
    </main>
  );
}
