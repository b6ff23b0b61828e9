/** Requests to an OCI registry: which scheme it speaks, and what it wants to see before it answers. */

import { AppError, type ErrorKind } from "../../errors/app-error.ts";
import type { Log } from "../../log/log.ts";
import { type RepositoryAccess, registryHost } from "../access.ts";
import { isLoopback } from "../address.ts";
import { chartErrors } from "../errors.ts";
import { discard, type Exchange, type Exchanger } from "../transport/exchange.ts";
import { isNotTls } from "../transport/network-error.ts";
import type { OciAuth } from "./registry-auth.ts";
import { createLruCache } from "../../cache/lru-cache.ts";
import { type OciName, parseOciName } from "../location.ts";

export interface RegistryRequest {
  readonly method: "GET" | "HEAD";
  readonly repository: string;
  /** Below `/v2/<name>/`, or an address of the registry's own making. */
  readonly target: string | URL;
  readonly access: RepositoryAccess;
  readonly accept?: string;
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
  readonly failure: ErrorKind;
}

export interface OciRegistry {
  /** The answer, after any exchange about credentials. Its status is the caller's to judge. */
  ask(request: RegistryRequest): Promise<Exchange>;
}

export function createOciRegistry(deps: {
  readonly exchange: Exchanger;
  readonly auth: OciAuth;
  readonly log: Log;
}): OciRegistry {
  /** Registries on this machine that do not speak TLS. */
  const plainHosts = createLruCache<true>(100);

  async function askAt(registry: URL, name: OciName, request: RegistryRequest): Promise<Exchange> {
    const { access, signal } = request;
    const url = new URL(request.target, new URL(`/v2/${name.path}/`, registry));
    // Credentials are for the registry; an address elsewhere (of a next page, say) is asked without.
    const isRegistry = url.origin === registry.origin;
    const send = (authorization: string | undefined): Promise<Exchange> =>
      deps.exchange({
        method: request.method,
        url,
        access,
        authorization,
        headers: request.accept === undefined ? {} : { accept: request.accept },
        timeoutMs: request.timeoutMs,
        signal,
        failure: request.failure,
      });

    const refused = isRegistry ? deps.auth.remembered(registry, name.path, access) : undefined;
    const answer = await send(refused);
    if (answer.status !== 401 || answer.url.origin !== registry.origin || !isRegistry)
      return answer;
    const authorization = await deps.auth.respond({
      answer,
      registry,
      path: name.path,
      access,
      refused,
      signal,
    });
    if (authorization === undefined) return answer;
    await discard(answer.body);
    return send(authorization);
  }

  return {
    async ask(request) {
      const name = parseOciName(request.repository);
      if (name === undefined)
        throw new AppError(
          chartErrors.CHART_SOURCE_INVALID,
          "the address of the OCI repository cannot be read",
        );
      const host = registryHost(name.host);
      if (request.access.plainHttp === true || plainHosts.get(host) === true)
        return askAt(new URL(`http://${host}`), name, request);
      try {
        return await askAt(new URL(`https://${host}`), name, request);
      } catch (thrown) {
        // As Docker and containerd do: a registry on this machine may do without TLS.
        if (!isLoopback(host) || !isNotTls(thrown)) throw thrown;
        plainHosts.set(host, true);
        deps.log.debug({ host }, "registry on this machine is spoken to without TLS");
        return askAt(new URL(`http://${host}`), name, request);
      }
    },
  };
}
