/**
 * Requests to OCI registries: HTTPS or, on this machine, HTTP; and authentication after a challenge of the registry.
 */

import { createLruCache } from "../../../runtime/cache/index.ts";
import { AppError, type ErrorKind } from "../../../runtime/errors/index.ts";
import type { Log } from "../../../runtime/log/index.ts";
import {
  chartErrors,
  isLoopback,
  type OciName,
  parseOciName,
  type RepositoryAccess,
  registryHost,
} from "../index.ts";
import { discard, type Exchange, type Exchanger, isNotTls, isRefused } from "../transport/index.ts";
import type { RegistryAuth } from "./registry-auth.ts";

export interface RegistryRequest {
  readonly method: "GET" | "HEAD";
  readonly repository: string;
  /** Relative to `/v2/<name>/`, or an absolute address that the registry returned. */
  readonly target: string | URL;
  readonly access: RepositoryAccess;
  readonly accept?: string;
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
  readonly errorKind: ErrorKind;
}

export interface OciRegistry {
  /** The response after authentication, with any status. */
  send(request: RegistryRequest): Promise<Exchange>;
}

export function createOciRegistry(deps: {
  readonly exchange: Exchanger;
  readonly auth: RegistryAuth;
  readonly log: Log;
}): OciRegistry {
  /** Registries that serve HTTP without TLS. */
  const plainHosts = createLruCache<true>(100);

  async function sendTo(registry: URL, name: OciName, request: RegistryRequest): Promise<Exchange> {
    const { access, signal } = request;
    const url = new URL(request.target, new URL(`/v2/${name.path}/`, registry));
    // Credentials are for the registry only, not for an address elsewhere, such as the address of a next page.
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
        errorKind: request.errorKind,
      });

    const rejected = isRegistry ? deps.auth.cached(registry, name.path, access) : undefined;
    const response = await send(rejected);
    if (response.status !== 401 || response.url.origin !== registry.origin || !isRegistry)
      return response;
    const authorization = await deps.auth.authorize({
      response,
      registry,
      path: name.path,
      access,
      rejected,
      signal,
    });
    if (authorization === undefined) return response;
    await discard(response.body);
    return send(authorization);
  }

  return {
    async send(request) {
      const name = parseOciName(request.repository);
      if (name === undefined)
        throw new AppError(
          chartErrors.CHART_SOURCE_INVALID,
          "the address of the OCI repository is invalid",
        );
      const host = registryHost(name.host);
      const { plainHttp, plainHttpFallback } = request.access;
      const mayFallBack = isLoopback(host) || plainHttpFallback === true;
      if (plainHttp === true || (mayFallBack && plainHosts.get(host) === true))
        return sendTo(new URL(`http://${host}`), name, request);
      try {
        return await sendTo(new URL(`https://${host}`), name, request);
      } catch (thrown) {
        // As in Docker and containerd, a registry on this machine may serve HTTP without TLS.
        const isPlain = isNotTls(thrown) || (plainHttpFallback === true && isRefused(thrown));
        if (!mayFallBack || !isPlain) throw thrown;
        plainHosts.set(host, true);
        deps.log.debug({ host }, "registry serves HTTP without TLS");
        return sendTo(new URL(`http://${host}`), name, request);
      }
    },
  };
}
