/** Which HelmOps a push concerns. Pure. */
import type { HelmOp } from "@flotilla/shared/api/helm-op.ts";
import { parseOciName } from "@flotilla/shared/charts/source.ts";
import { wantedCharts } from "../helm-op/plan-bundle.ts";
import { mayChange, pollingIntervalMs } from "../helm-op/polling.ts";
import type { Push, PushedRepository } from "./pushed-repositories.ts";

/** Only those that are polled: a webhook brings a poll forward. */
export function namedHelmOps(push: Push, helmOps: readonly HelmOp[]): readonly HelmOp[] {
  const polled = helmOps.filter((helmOp) => pollingIntervalMs(helmOp) !== undefined);
  switch (push.kind) {
    case "all":
      return polled;
    case "nothing":
    case "unreadable":
      return [];
    case "named": {
      const found = new Set(push.repositories.flatMap((repository) => having(repository, polled)));
      return [...found];
    }
  }
}

/**
 * A registry is often known by several names, so where nobody uses the one that the sender has, the path decides: a poll
 * too many costs less than one that is missing.
 */
function having(repository: PushedRepository, helmOps: readonly HelmOp[]): readonly HelmOp[] {
  const byPath = helmOps.filter((helmOp) =>
    repositoriesOf(helmOp).some(({ path }) => path === repository.path),
  );
  const byBoth = byPath.filter((helmOp) =>
    repositoriesOf(helmOp).some(
      ({ host, path }) => path === repository.path && host === repository.host,
    ),
  );
  if (byBoth.length > 0) return byBoth;
  // Every repository that is served at the root of its host has the same path.
  return repository.path === "" ? [] : byPath;
}

function repositoriesOf(helmOp: HelmOp): readonly PushedRepository[] {
  return wantedCharts(helmOp)
    .filter(mayChange)
    .flatMap(({ repo }) => {
      const oci = parseOciName(repo.trim());
      if (oci !== undefined) return [oci];
      const url = URL.parse(repo.trim());
      return url === null ? [] : [{ host: url.host, path: url.pathname.replace(/^\/+|\/+$/g, "") }];
    });
}
