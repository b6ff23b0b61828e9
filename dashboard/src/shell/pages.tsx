/** Which page an address shows. Pages of single objects are loaded when one is opened. */
import type { AppRef, SourceKind } from "@flotilla/shared/dashboard";
import { lazy } from "react";
import { Link, Route, Switch } from "wouter";
import { OverviewPage } from "../overview/index.ts";

const AppPage = lazy(async () => ({ default: (await import("../app/index.ts")).AppPage }));
const ClusterPage = lazy(async () => ({
  default: (await import("../cluster/index.ts")).ClusterPage,
}));
const ReleasePage = lazy(async () => ({
  default: (await import("../release/index.ts")).ReleasePage,
}));
const SourcePage = lazy(async () => ({
  default: (await import("../source/index.ts")).SourcePage,
}));
const AppList = lazy(async () => ({ default: (await import("../list/index.ts")).AppList }));
const ClusterList = lazy(async () => ({
  default: (await import("../list/index.ts")).ClusterList,
}));
const EventsPage = lazy(async () => ({ default: (await import("../events/index.ts")).EventsPage }));
const SourceList = lazy(async () => ({ default: (await import("../list/index.ts")).SourceList }));

export function Pages() {
  return (
    <Switch>
      <Route path="/">
        <OverviewPage />
      </Route>
      <Route path="/apps">
        <AppList />
      </Route>
      <Route path="/clusters">
        <ClusterList />
      </Route>
      <Route path="/sources">
        <SourceList />
      </Route>
      <Route path="/events">
        <EventsPage />
      </Route>
      <Route path="/apps/:kind/:namespace/:name">
        {({ kind, namespace, name }) => (
          <AppPage kind={kind as AppRef["kind"]} namespace={namespace} name={name} />
        )}
      </Route>
      <Route path="/sources/:kind/:namespace/:name">
        {({ kind, namespace, name }) => (
          <SourcePage kind={kind as SourceKind} namespace={namespace} name={name} />
        )}
      </Route>
      <Route path="/clusters/:namespace/:name">
        {({ namespace, name }) => <ClusterPage namespace={namespace} name={name} />}
      </Route>
      <Route path="/clusters/:namespace/:name/releases/:kind/:appNamespace/:appName">
        {({ namespace, name, kind, appNamespace, appName }) => (
          <ReleasePage
            cluster={{ namespace, name }}
            app={{ kind: kind as AppRef["kind"], namespace: appNamespace, name: appName }}
          />
        )}
      </Route>
      <Route>
        <NotFound />
      </Route>
    </Switch>
  );
}

function NotFound() {
  return (
    <div className="card">
      <h1>There is no such page</h1>
      <p>
        Go to the <Link href="/">overview</Link>.
      </p>
    </div>
  );
}
