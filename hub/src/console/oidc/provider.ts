/** The provider: its discovery document, which is read when a user logs in, and requests to it as the hub's client. */

import { readFile } from "node:fs/promises";
import { createSingleFlight } from "@flotilla/shared/concurrency";
import { AppError } from "@flotilla/shared/errors";
import type { Exchanger } from "@flotilla/shared/source/transport";
import type { Clock } from "@flotilla/shared/time";
import type { ClientAuth, Configuration, CustomFetch, ServerMetadata } from "openid-client";
import { hubErrors } from "../../base/index.ts";
import { isSecure, type OidcConfig } from "./config/index.ts";
import { loadLibrary, type OpenIdClient } from "./library.ts";
import { providerError } from "./provider-error.ts";
import { createProviderFetch } from "./provider-fetch.ts";

export interface ProviderDeps {
  readonly config: OidcConfig;
  readonly exchange: Exchanger;
  readonly clock: Clock;
}

export interface Provider {
  /** Throws OIDC_UNAVAILABLE. */
  connect(): Promise<Connected>;
}

export interface Connected {
  readonly library: OpenIdClient;
  /** For addresses alone. */
  readonly anonymous: Configuration;
  /**
   * With the client's secret, which is read now: one for each way to send it, to be tried in this order, because a provider may
   * accept another one for each client, and does not say which.
   */
  clients(): Promise<readonly Configuration[]>;
}

interface Discovered {
  readonly library: OpenIdClient;
  readonly metadata: ServerMetadata;
  readonly fetch: CustomFetch;
  /** On the monotonic clock. */
  readonly at: number;
}

/** A provider that moves its endpoints is used again after this long. */
const keptMs = 60 * 60_000;
/** Between the clocks of the provider and the hub. */
const clockSkewSeconds = 60;

export function createProvider({ config, exchange, clock }: ProviderDeps): Provider {
  const { issuer, clientId } = config;
  const flights = createSingleFlight<Discovered>();
  let known: Discovered | undefined;

  async function discover(): Promise<Discovered> {
    const library = await loadLibrary();
    const caPem = config.caFile === undefined ? undefined : await read(config.caFile);
    const fetch = createProviderFetch({ exchange, issuer, caPem });
    const at = clock.monotonic();
    try {
      const found = await library.discovery(new URL(issuer), clientId, undefined, library.None(), {
        [library.customFetch]: fetch,
        execute: isPlain(issuer) ? [library.allowInsecureRequests] : [],
      });
      const metadata = found.serverMetadata();
      known = { library, metadata, fetch, at };
      return known;
    } catch (thrown) {
      throw providerError(thrown, { library, issuer, kind: hubErrors.OIDC_UNAVAILABLE });
    }
  }

  function configuration({ library, metadata, fetch }: Discovered, authentication: ClientAuth) {
    const skew = { [library.clockTolerance]: clockSkewSeconds };
    const made = new library.Configuration(metadata, clientId, skew, authentication);
    made[library.customFetch] = fetch;
    if (isPlain(issuer)) library.allowInsecureRequests(made);
    // TLS authenticates the token, but not where a proxy ends TLS.
    library.enableNonRepudiationChecks(made);
    return made;
  }

  return {
    async connect() {
      const isFresh = known !== undefined && clock.monotonic() - known.at < keptMs;
      const discovered = known !== undefined && isFresh ? known : await flights.run("", discover);
      const { library, metadata } = discovered;
      return {
        library,
        anonymous: configuration(discovered, library.None()),
        async clients() {
          const secret = (await read(config.clientSecretFile)).trim();
          const methods = metadata.token_endpoint_auth_methods_supported;
          return [
            // First: Basic encodes characters that some providers do not decode.
            ...(methods?.includes("client_secret_post") === false
              ? []
              : [library.ClientSecretPost(secret)]),
            library.ClientSecretBasic(secret),
          ].map((authentication) => configuration(discovered, authentication));
        },
      };
    },
  };
}

/** Plain HTTP, which the configuration allows on this machine alone. */
function isPlain(issuer: string): boolean {
  const url = new URL(issuer);
  return url.protocol === "http:" && isSecure(url);
}

async function read(file: string): Promise<string> {
  try {
    const text = await readFile(file, "utf8");
    if (text.trim() !== "") return text;
  } catch {
    // Below, as for an empty one.
  }
  throw new AppError(
    hubErrors.OIDC_UNAVAILABLE,
    `the hub cannot read the file ${file} for logins with OpenID Connect, or it is empty; check the Secret and the ConfigMap in dashboard.oidc`,
  );
}
