/** The library, which is loaded when somebody logs in with OpenID Connect first: an idle hub needs no memory for it. */
import type * as openIdClient from "openid-client";

export type OpenIdClient = typeof openIdClient;

export async function loadLibrary(): Promise<OpenIdClient> {
  return await import("openid-client");
}
