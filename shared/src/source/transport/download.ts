/** The one request that fetches a pinned chart. */
import { unreachable } from "../../errors/app-error.ts";
import { homeAuthorization, type RepositoryAccess } from "../access.ts";
import { encodingOf, notAskedFor } from "./body.ts";
import { chartErrors } from "../errors.ts";
import type { Exchange, Exchanger } from "./exchange.ts";
import type { OciRegistry } from "../oci/registry.ts";
import type { Pin } from "../pin.ts";
import { refusal } from "./response-error.ts";

export interface DownloadOptions {
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
}

/** The archive's bytes on their way: an answer with status 200, its body not yet read or checked. */
export type OpenChart = (
  pin: Pin,
  access: RepositoryAccess,
  options: DownloadOptions,
) => Promise<Exchange>;

export function createOpenChart(deps: {
  readonly exchange: Exchanger;
  readonly registry: OciRegistry;
}): OpenChart {
  function ask(pin: Pin, access: RepositoryAccess, options: DownloadOptions): Promise<Exchange> {
    const common = {
      method: "GET",
      access,
      ...options,
      failure: chartErrors.CHART_DOWNLOAD,
    } as const;
    switch (pin.kind) {
      case "http":
      case "tarball": {
        const url = new URL(pin.url);
        return deps.exchange({ ...common, url, authorization: homeAuthorization(access, url) });
      }
      case "oci":
        return deps.registry.ask({
          ...common,
          repository: pin.repository,
          target: `blobs/${pin.layerDigest}`,
        });
      default:
        return unreachable(pin);
    }
  }

  return async function openChart(pin, access, options) {
    const answer = await ask(pin, access, options);
    if (answer.status !== 200) throw await refusal(answer, access, chartErrors.CHART_DOWNLOAD);
    const encoding = encodingOf(answer);
    // Archives are fetched without asking for an encoding; servers that name one for .tgz mean the archive itself.
    if (encoding !== "identity" && encoding !== "gzip") {
      answer.body.destroy();
      throw answer.broken(notAskedFor(encoding));
    }
    return answer;
  };
}
