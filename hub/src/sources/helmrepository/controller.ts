/** The controller of HelmRepositories: requests the index of each in its interval. Registries have no index. */

import { type HelmRepository, helmRepositories } from "@flotilla/shared/flux";
import { fluxReason } from "@flotilla/shared/flux/reasons";
import { describeUrl, joinAddress } from "@flotilla/shared/source";
import type { ReadIndex } from "@flotilla/shared/source/client";
import type { FluxInformers } from "../../base/index.ts";
import { secretNames } from "../fluxsource/access.ts";
import {
  createSourceController,
  type SourceController,
  type SourceControllerDeps,
} from "../fluxsource/source-controller.ts";
import { SourceError } from "../fluxsource/source-error.ts";
import type { SourceResult } from "../fluxsource/source-status.ts";
import { timeoutOf } from "../fluxsource/timeout.ts";
import { chartLocation, helmRepositoryAccess, isRegistry, specOf } from "./location.ts";

export interface HelmRepositoryDeps extends SourceControllerDeps {
  readonly flux: Pick<FluxInformers, "helmRepositories">;
  readonly readIndex: ReadIndex;
}

export function createHelmRepositoryController(
  deps: HelmRepositoryDeps,
): SourceController<HelmRepository> {
  return createSourceController<HelmRepository>(
    {
      name: "helmrepository",
      resource: helmRepositories,
      isRead: (repository) => !isRegistry(repository),
      intervalOf: ({ spec }) => spec?.interval ?? "1m",
      addressOf: ({ spec }) => spec?.url ?? "",
      secretsOf: ({ spec }) => (spec === undefined ? [] : secretNames(spec)),
      async read(repository, { secret, signal }): Promise<SourceResult> {
        const { url, timeout } = specOf(repository);
        const { namespace, name } = repository.metadata;
        const address = joinAddress(url, "index.yaml");
        if (address === undefined || !/^https?:/i.test(url))
          throw new SourceError(
            fluxReason.urlInvalid,
            "spec.url is not an address of an HTTP repository",
            {
              stalls: true,
            },
          );
        const access = helmRepositoryAccess(repository, chartLocation(repository, ""), secret);
        const index = await timeoutOf(timeout, signal, (limited) =>
          deps.readIndex(url, access, { signal: limited }),
        );
        return {
          artifact: {
            revision: index.digest,
            digest: index.digest,
            size: index.sizeBytes,
            url: describeUrl(address),
            path: `helmrepository/${namespace}/${name}/index-${index.digest.slice("sha256:".length)}.yaml`,
          },
          message: `stored artifact: revision '${index.digest}'`,
          fields: { url: describeUrl(address) },
        };
      },
    },
    deps.flux.helmRepositories,
    deps,
  );
}
