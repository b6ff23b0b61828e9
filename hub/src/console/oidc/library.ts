/** The library, which is loaded at the first login with OpenID Connect: an idle hub needs no memory for it. */
import type * as openIdClient from "openid-client";

export type OpenIdClient = typeof openIdClient;

export async function loadLibrary(): Promise<OpenIdClient> {
  return await import("openid-client");
}
