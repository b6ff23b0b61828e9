/** Which HelmOps a push concerns. Pure. */
import type { HelmOp } from "@flotilla/shared/api";
import { parseOciName } from "@flotilla/shared/source";
import {
  chartReferences,
  mayChange,
  pollingIntervalMs,
  releaseOfHelmOp,
} from "../../rules/index.ts";
import type { Push, PushedRepository } from "./registry-push.ts";

/** Only HelmOps that are polled: a webhook requests an early poll. */
export function matchHelmOps(push: Push, helmOps: readonly HelmOp[]): readonly HelmOp[] {
  const polled = helmOps.filter(
    (helmOp) => pollingIntervalMs(releaseOfHelmOp(helmOp)) !== undefined,
  );
  switch (push.kind) {
    case "all":
      return polled;
    case "nothing":
    case "invalid":
      return [];
    case "named": {
      const users = byPath(polled);
      return [...new Set(push.repositories.flatMap((repository) => usersOf(repository, users)))];
    }
  }
}

/** A HelmOp with the host of one of its repositories. */
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
 * A registry often has several host names. When no HelmOp uses the one that the sender has, the path decides: an unneeded poll
 * costs less than a missing one.
 */
function usersOf(
  { host, path }: PushedRepository,
  users: ReadonlyMap<string, readonly User[]>,
): readonly HelmOp[] {
  const ofPath = users.get(path) ?? [];
  const ofBoth = ofPath.filter((user) => user.host === host);
  // All repositories at the root of a host have the same path.
  const matching = ofBoth.length > 0 || path === "" ? ofBoth : ofPath;
  return matching.map(({ helmOp }) => helmOp);
}

function repositoriesOf(helmOp: HelmOp): readonly PushedRepository[] {
  return chartReferences(releaseOfHelmOp(helmOp))
    .filter(mayChange)
    .flatMap(({ repo }) => {
      const oci = parseOciName(repo.trim());
      if (oci !== undefined) return [oci];
      const url = URL.parse(repo.trim());
      return url === null ? [] : [{ host: url.host, path: url.pathname.replace(/^\/+|\/+$/g, "") }];
    });
}
