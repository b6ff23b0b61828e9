/**
 * The dashboard of a replica: loaded at the first request, so that a hub whose dashboard is not used needs no memory for it.
 * From then on its read model follows the caches that the replica has anyway, and the Events of the hub.
 */
import { clusters, schedules } from "@flotilla/shared/api";
import { appDefinition, appKinds } from "@flotilla/shared/api/apps";
import { hubNamespace } from "@flotilla/shared/api/names";
import { bundleRollouts, gates } from "@flotilla/shared/api/rollout";
import { buildVersion } from "@flotilla/shared/buildinfo";
import {
  buckets,
  gitRepositories,
  helmCharts,
  helmRepositories,
  ociRepositories,
} from "@flotilla/shared/flux";
import { createInformer, type Informer } from "@flotilla/shared/kube/cache";
import { type Event, events, type KubeObject, type Resource } from "@flotilla/shared/kube/objects";
import type { Route } from "@flotilla/shared/program";
import { appInformers } from "./base/index.ts";
import type { HubConfig } from "./config.ts";
import type { Dashboard } from "./console/dashboard/index.ts";
import type { UserRequests, ViewedKind } from "./console/index.ts";
import type { OidcConfig } from "./console/oidc/config/index.ts";
import type { OidcLogin } from "./console/oidc/index.ts";
import type { Parts } from "./parts.ts";

export interface ServedDashboard {
  readonly route: Route;
  /** Ends the connections of viewers. */
  close(): Promise<void>;
}

export interface ServeDashboardOptions {
  readonly config: HubConfig;
  readonly parts: Parts;
  readonly requests: Pick<UserRequests, "answer">;
  readonly notReady: () => string | undefined;
}

/** As the hub's event recorder writes it. */
const ownEvents = "reportingController=flotilla.dev/hub";

export function serveDashboard(
  options: ServeDashboardOptions,
  signal: AbortSignal,
): ServedDashboard {
  let loading: Promise<LoadedDashboard> | undefined;
  return {
    async route(request, response) {
      loading ??= load(options, signal);
      const dashboard = await loading.catch((thrown: unknown) => {
        loading = undefined;
        throw thrown;
      });
      await dashboard.handle(request, response);
    },
    async close() {
      await (await loading?.catch(() => undefined))?.close();
    },
  };
}

interface LoadedDashboard extends Pick<Dashboard, "handle"> {
  close(): Promise<void>;
}

async function load(
  { config, parts, requests, notReady }: ServeDashboardOptions,
  signal: AbortSignal,
): Promise<LoadedDashboard> {
  const { caches, flux, rest, clock, log } = parts;
  const [{ createAsUser, createDashboard }, { FleetDetails, FleetView, shownPart }] =
    await Promise.all([
      import("./console/dashboard/index.ts"),
      import("./console/fleetview/index.ts"),
    ]);
  const recent = createInformer<Event>({
    rest,
    resource: events,
    log: log.child({ cache: "events" }),
    fieldSelector: ownEvents,
    transform: shownPart,
  });
  void recent.run(signal);
  const shown = {
    ...caches,
    apps: appInformers(caches, flux),
    sources: {
      HelmRepository: flux.helmRepositories,
      OCIRepository: flux.ociRepositories,
      GitRepository: flux.gitRepositories,
      Bucket: flux.buckets,
      HelmChart: flux.helmCharts,
    },
    events: recent,
  };
  const oidc = config.oidc && (await loadOidcLogin(config.oidc, config, parts));
  const dashboard = await createDashboard({
    ...parts,
    requests,
    oidc,
    asUser: createAsUser(parts),
    namespace: hubNamespace,
    view: new FleetView(shown),
    details: new FleetDetails({ ...shown, version: buildVersion }),
    viewedKinds: viewedKindsOf(parts),
    hub: { version: buildVersion, replica: config.replica },
    pageDir: config.dashboardDir,
    addressHeader: config.clientAddressHeader,
    notReady,
    clock,
    log,
  });
  return {
    handle: dashboard.handle,
    async close() {
      dashboard.close();
      await oidc?.close();
    },
  };
}

/** The administrator has chosen the provider, so it may be on this machine. */
async function loadOidcLogin(
  oidc: OidcConfig,
  { proxy }: Pick<HubConfig, "proxy">,
  { userAgent, ownPorts, clock }: Pick<Parts, "userAgent" | "ownPorts" | "clock">,
): Promise<OidcLogin> {
  const { createOidcLogin } = await import("./console/oidc/index.ts");
  const egress = { allowLoopback: true, ownPorts };
  return createOidcLogin({ config: oidc, userAgent, egress, proxy, clock });
}

function viewedKindsOf({ caches, flux }: Parts): readonly ViewedKind[] {
  const apps = appInformers(caches, flux);
  return [
    ...appKinds.map((kind) => viewed<KubeObject>(appDefinition(kind).resource, apps[kind])),
    viewed(clusters, caches.clusters),
    viewed(schedules, caches.schedules),
    viewed(bundleRollouts, caches.rollouts),
    viewed(gates, caches.gates),
    viewed(helmRepositories, flux.helmRepositories),
    viewed(ociRepositories, flux.ociRepositories),
    viewed(gitRepositories, flux.gitRepositories),
    viewed(buckets, flux.buckets),
    viewed(helmCharts, flux.helmCharts),
  ];
}

function viewed<T extends KubeObject>(resource: Resource<T>, { store }: Informer<T>): ViewedKind {
  return {
    resource,
    *namespaces() {
      for (const { metadata } of store.list()) yield metadata.namespace ?? "";
    },
  };
}
