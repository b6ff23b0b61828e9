/** The requests of the library to the provider: over the connections that the hub's other requests use, with their limits. */

import { AppError } from "@flotilla/shared/errors";
import { type Exchanger, readBody } from "@flotilla/shared/source/transport";
import type { CustomFetch } from "openid-client";
import { hubErrors } from "../../base/index.ts";
import { isSecure } from "./config/index.ts";

export interface ProviderFetchDeps {
  readonly exchange: Exchanger;
  readonly issuer: string;
  /** Certificate authorities besides the system's, PEM. */
  readonly caPem: string | undefined;
}

const timeoutMs = 10_000;
/** The limit of a document, a set of keys or a token. */
const maxBytes = 512 * 1024;
const errorKind = hubErrors.OIDC_UNAVAILABLE;
/** What the library reads. */
const readHeaders = ["content-type", "www-authenticate"];

export function createProviderFetch({ exchange, issuer, caPem }: ProviderFetchDeps): CustomFetch {
  const access = { origin: new URL(issuer).origin, ...(caPem !== undefined && { caPem }) };
  return async function fetch(address, { method, headers, body, signal }) {
    const url = new URL(address);
    // The provider names it.
    if (!isSecure(url))
      throw new AppError(errorKind, `the provider ${issuer} names ${url.origin}, which has no TLS`);
    const { "user-agent": _, ...sent } = headers;
    const text = body instanceof URLSearchParams || typeof body === "string" ? String(body) : "";
    const response = await exchange({
      url,
      access,
      timeoutMs,
      signal,
      errorKind,
      headers: sent,
      method: method === "POST" ? "POST" : "GET",
      ...(text !== "" && { body: text }),
      authorities: "the file of --oidc-ca-file (dashboard.oidc.ca of the chart flotilla)",
    });
    const { bytes } = await readBody(response, { maxBytes, tooLarge: errorKind });
    return new Response(bytes.length === 0 ? null : bytes, {
      status: response.status,
      headers: readHeaders.flatMap((name) =>
        response.headerValues(name).map((value): [string, string] => [name, value]),
      ),
    });
  };
}
