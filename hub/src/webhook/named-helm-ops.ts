/** Which HelmOps a push concerns. Pure. */
import type { HelmOp } from "@flotilla/shared/api/helm-op.ts";
import { parseOciName } from "@flotilla/shared/source/location.ts";
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
      const users = byPath(polled);
      return [...new Set(push.repositories.flatMap((repository) => having(repository, users)))];
    }
  }
}

/** A HelmOp, and the host of one of its repositories. */
interface User {
  readonly helmOp: HelmOp;
  readonly host: string | undefined;
}

function byPath(helmOps: readonly HelmOp[]): ReadonlyMap<string, readonly User[]> {
  const users = helmOps.flatMap((helmOp) =>
    repositoriesOf(helmOp).map(({ host, path }) => ({ helmOp, host, path })),
  );
  return Map.groupBy(users, ({ path }) => path);
}

/**
 * A registry is often known by several names, so where nobody uses the one that the sender has, the path decides: a poll
 * too many costs less than one that is missing.
 */
function having(
  { host, path }: PushedRepository,
  users: ReadonlyMap<string, readonly User[]>,
): readonly HelmOp[] {
  const ofPath = users.get(path) ?? [];
  const ofBoth = ofPath.filter((user) => user.host === host);
  // Every repository that is served at the root of its host has the same path.
  const meant = ofBoth.length > 0 || path === "" ? ofBoth : ofPath;
  return meant.map(({ helmOp }) => helmOp);
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
