/** The apps of a fleet, a table for each kind with apps. Pure. */
import type { BundleSummary, Condition } from "@flotilla/shared/api";
import {
  type AppKind,
  appDefinition,
  appKinds,
  frontEndKinds,
  isMadeFor,
} from "@flotilla/shared/api/apps";
import { bundleNameOf } from "@flotilla/shared/api/names";
import { findCondition } from "@flotilla/shared/conditions";
import { type KubeObject, keyOf } from "@flotilla/shared/kube/objects";
import { oneLine } from "@flotilla/shared/text";
import { formatTable } from "./format-table.ts";
import { printable } from "./printable.ts";

export type AppsByKind = ReadonlyMap<AppKind, readonly KubeObject[]>;

/** What the statuses of all kinds say, as far as a table shows it. Where the version is a release's, it is in the history. */
interface ShownStatus {
  readonly conditions?: readonly Condition[];
  readonly summary?: BundleSummary;
  readonly version?: string;
  readonly history?: readonly { readonly chartVersion?: string }[];
  readonly rollout?: { readonly phase: string; readonly message?: string };
}

/** Bundles that were made for one of these apps are left out. */
export function appTables(apps: AppsByKind): readonly string[] {
  const made = bundlesOf(apps);
  return appKinds.flatMap((kind) => {
    const all = apps.get(kind) ?? [];
    const isBundle = appDefinition(kind).label === undefined;
    const shown = isBundle
      ? all.filter((object) => made.get(keyOf(object))?.(object) !== true)
      : all;
    const table = formatTable(
      [kind.toUpperCase(), "VERSION", "READY", "MESSAGE"],
      shown.map(rowOf),
    );
    return table === "" ? [] : [table];
  });
}

function rowOf(app: KubeObject): readonly string[] {
  const { status = {} } = app as KubeObject & { readonly status?: ShownStatus };
  const { ready = 0, desiredReady = 0 } = status.summary ?? {};
  return [
    keyOf(app),
    status.version ?? status.history?.[0]?.chartVersion ?? "",
    `${ready}/${desiredReady}`,
    oneLine(printable(problemOf(status))),
  ];
}

/** Why it is not accepted, not read or not ready, or is ready as far as is known; else what its clusters are ready with meanwhile. */
function problemOf({ conditions, rollout }: ShownStatus): string {
  const problem = ["Accepted", "Polled", "Ready"]
    .map((type) => findCondition(conditions, type))
    .find((condition) => condition?.status === "False" || condition?.reason === "Offline");
  return problem?.message ?? rolloutText(rollout);
}

/** Nothing for one that has ended well: VERSION is what all clusters have then. */
function rolloutText(rollout: ShownStatus["rollout"]): string {
  const { phase, message = "" } = rollout ?? {};
  const isOver = phase === undefined || phase === "Superseded";
  return isOver || message === "" ? "" : `rollout ${phase}: ${message}`;
}

/** By the key of the Bundle of each app whether a Bundle was made for it: another object may have had the name first. */
function bundlesOf(apps: AppsByKind): ReadonlyMap<string, (bundle: KubeObject) => boolean> {
  return new Map(
    frontEndKinds.flatMap((kind) =>
      (apps.get(kind) ?? []).map(({ metadata: { namespace = "", name } }) => [
        keyOf({ namespace, name: bundleNameOf(kind, name) }),
        ({ metadata }: KubeObject) => isMadeFor(metadata.labels, kind, name),
      ]),
    ),
  );
}
