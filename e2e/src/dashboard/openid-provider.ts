/** A real OpenID provider on another site than the hub: `localhost` is none of `127.0.0.1`. It believes who says who they are. */
import { generateKeyPairSync } from "node:crypto";
import { createServer, type Server } from "node:http";
import { Provider } from "oidc-provider";
import type { Page } from "playwright-core";
import { afterAll } from "vitest";

export interface OpenIdProvider {
  readonly issuer: string;
  readonly client: { readonly id: string; readonly secret: string };
}

export interface OpenIdProviderSpec {
  /** The groups of each user, by the name that they log in with. */
  readonly groups: Readonly<Record<string, readonly string[]>>;
  /** Known when the first request arrives. */
  readonly redirectUri: () => string;
}

const client = { id: "flotilla-dashboard", secret: "of-the-client" };

/** Ends with the test file. */
export async function startOpenIdProvider(spec: OpenIdProviderSpec): Promise<OpenIdProvider> {
  let answer: ReturnType<Provider["callback"]> | undefined;
  const server = createServer((request, response) => {
    answer ??= createProvider(issuer, spec).callback();
    void answer(request, response);
  });
  afterAll(() => {
    server.closeAllConnections();
    server.close();
  });
  const issuer = `http://localhost:${await listen(server)}`;
  return { issuer, client };
}

/** Logs in at the provider, and agrees that it says so to the dashboard. */
export async function logInAtProvider(page: Page, user: string): Promise<void> {
  await page.getByPlaceholder("Enter any login").fill(user);
  await page.getByPlaceholder("and password").fill("any");
  await page.getByRole("button", { name: "Sign-in" }).click();
  await page.getByRole("button", { name: "Continue" }).click();
}

function createProvider(issuer: string, { groups, redirectUri }: OpenIdProviderSpec): Provider {
  const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2_048 });
  return new Provider(issuer, {
    clients: [
      { client_id: client.id, client_secret: client.secret, redirect_uris: [redirectUri()] },
    ],
    claims: { openid: ["sub"], profile: ["name"], email: ["email"], groups: ["groups"] },
    // As most providers do: all claims are in the ID token.
    conformIdTokenClaims: false,
    pkce: { required: () => true },
    findAccount: (_context, sub) => ({
      accountId: sub,
      claims: () => ({ sub, name: sub, groups: [...(groups[sub] ?? [])] }),
    }),
    jwks: { keys: [{ ...privateKey.export({ format: "jwk" }), use: "sig" }] },
    cookies: { keys: ["of-the-provider"] },
  });
}

async function listen(server: Server): Promise<number> {
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", resolve);
  });
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("no port");
  return address.port;
}
