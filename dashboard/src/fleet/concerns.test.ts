import assert from "node:assert/strict";
import type { App } from "@flotilla/shared/dashboard";
import { describe, test } from "vitest";
import type { Concern } from "./concern.ts";
import { concernAbout, concernsOf } from "./concerns.ts";
import { app, cluster, fleet, nowMs, source } from "./testing/index.ts";

const at = (time: string) => `2026-01-01T${time}Z`;
const names = (concerns: readonly Concern[]) => concerns.map(({ name }) => name);
const paris = cluster("paris", "Ready");

describe("what needs attention", () => {
  test("is what is down, then what is not updated, then what never ran; the newest first within it", () => {
    const apps = [
      app("rejected", "NotAccepted", { since: at("11:59:00") }),
      app("stalled", "Stalled", { since: at("11:00:00") }),
      app("changed", "Modified", { since: at("11:30:00") }),
      app("crashing-long", "NotReady", { since: at("09:00:00") }),
      app("crashing", "NotReady", { since: at("10:00:00") }),
      app("broken", "ErrApplied", { since: at("10:30:00") }),
      app("first-failed", "ErrApplied", { since: at("11:58:00") }),
      app("nowhere", "NoTargets", { since: at("11:00:00") }),
      app("fine", "Ready"),
      app("busy", "WaitApplied"),
    ];
    const installed = ["stalled", "changed", "crashing", "broken"];

    const concerns = concernsOf(
      fleet(apps, [cluster("gone", "Offline", at("09:30:00"))], { installed }),
      nowMs,
    );

    assert.deepEqual(names(concerns), [
      ...["broken", "crashing", "gone", "crashing-long"],
      ...["changed", "stalled"],
      ...["rejected", "first-failed", "nowhere"],
    ]);
    const first = concerns.findIndex(({ harm }) => harm === "unchanged");
    assert.equal(first, 4);
  });

  test("is ordered by times, of which some have fractions of a second", () => {
    const of = (name: string, time: string) => app(name, "NotReady", { since: at(time) });

    const concerns = concernsOf(
      fleet([of("a", "10:00:00"), of("b", "10:00:00.5")], [paris]),
      nowMs,
    );

    assert.deepEqual(names(concerns), ["b", "a"]);
  });

  test("is what has failed although it is suspended, and a cluster whose agent has never connected", () => {
    const concerns = concernsOf(
      fleet([app("a", "ErrApplied", { suspended: true })], [cluster("new", "WaitCheckIn")], {
        installed: ["a"],
      }),
      nowMs,
    );
    assert.deepEqual(
      concerns.map(({ name, suspended }) => [name, suspended]),
      [
        ["a", true],
        ["new", false],
      ],
    );
  });

  test("is a cluster without its agent once, and not each app that goes there", () => {
    const apps = [app("a", "Offline"), app("b", "Offline"), app("c", "Ready")];
    const namesWith = (clusters: Parameters<typeof fleet>[1]) =>
      names(concernsOf(fleet(apps, clusters), nowMs));
    assert.deepEqual(namesWith([cluster("gone", "Offline"), paris]), ["gone"]);
    // To a user who may not list clusters.
    assert.deepEqual(namesWith([]), ["a", "b"]);
  });

  test("is a cluster whose failed releases the user may not see", () => {
    assert.deepEqual(names(concernsOf(fleet([], [cluster("x", "ErrApplied")]), nowMs)), ["x"]);
  });
});

describe("one cause is one entry", () => {
  test("for clusters that went offline together, and another for an earlier one", () => {
    const outage = Array.from({ length: 100 }, (_, n) => ({
      ...cluster(`c${n}`, "Offline", at(`11:35:${String(n % 60).padStart(2, "0")}`)),
      message: `${n}/${n} were ready then`,
    }));
    const concerns = concernsOf(
      fleet([], [cluster("old", "Offline", at("08:00:00")), ...outage]),
      nowMs,
    );
    assert.deepEqual(
      concerns.map(({ name, since, same, message }) => [name, since, same.length, message]),
      [
        ["c0", at("11:35:00"), 100, ""],
        ["old", at("08:00:00"), 0, ""],
      ],
    );
  });

  test("for clusters that went offline in the same second, in any order the same one", () => {
    const offline = ["c", "a", "b"].map((name) => cluster(name, "Offline", at("11:00:00")));
    for (const clusters of [offline, offline.toReversed()]) {
      const [{ name, same } = assert.fail()] = concernsOf(fleet([], clusters), nowMs);
      assert.deepEqual([name, same.map((each) => each.name)], ["a", ["a", "b", "c"]]);
    }
  });

  test("for clusters that wait for their agents", () => {
    const concerns = concernsOf(
      fleet([], [cluster("a", "WaitCheckIn"), cluster("b", "WaitCheckIn")]),
      nowMs,
    );
    assert.deepEqual(
      concerns.map(({ same }) => same.map(({ name }) => name)),
      [["a", "b"]],
    );
  });

  const shop = { kind: "HelmRepository", namespace: "ns", name: "shop" } as const;
  const waiting: Partial<App> = {
    ...{ kind: "HelmRelease", reason: "SourceNotReady", source: shop },
  };

  test("for a source, with the apps that need it, as bad as the worst of them", () => {
    const apps = ["a", "b", "c"].map((name) => app(name, "NotAccepted", waiting));
    const other = app("other", "NotAccepted", { ...waiting, reason: "ValuesError" });
    const [first, second, ...more] = concernsOf(
      fleet([...apps, other], [paris], {
        sources: [source("HelmRepository", "shop", { secret: "login" })],
        installed: ["b"],
      }),
      nowMs,
    );
    assert.deepEqual(more, []);
    assert.deepEqual([first?.name, first?.secret, first?.harm], ["shop", "login", "unchanged"]);
    assert.deepEqual(
      first?.affected.map(({ name }) => name),
      ["a", "b", "c"],
    );
    assert.equal(second?.name, "other");
  });

  test("for the source of a HelmChart that an app names", () => {
    const chart = { kind: "HelmChart", namespace: "ns", name: "web" } as const;
    const concerns = concernsOf(
      fleet([app("a", "NotAccepted", { ...waiting, source: chart })], [paris], {
        sources: [source("HelmRepository", "shop"), source("HelmChart", "web", { source: shop })],
      }),
      nowMs,
    );
    assert.deepEqual(names(concerns), ["shop"]);
  });

  test("for an app whose own chart has failed, with the code of its HelmChart", () => {
    const code = "CHART_VERSION_NOT_FOUND";
    const [concern] = concernsOf(
      fleet([app("a", "NotAccepted", waiting)], [paris], {
        sources: [
          source("HelmRepository", "shop", { state: "Ready" }),
          source("HelmChart", "ns-a", { source: shop, code }),
        ],
      }),
      nowMs,
    );
    assert.deepEqual([concern?.name, concern?.code], ["a", code]);
  });

  test("for apps that name the same host and Secret, where that is what fails", () => {
    const login = { host: "charts.example.com", secret: "login", code: "REGISTRY_UNAUTHORIZED" };
    const version = { ...login, code: "CHART_VERSION_NOT_FOUND" };
    const concerns = concernsOf(
      fleet(
        [
          app("a", "NotAccepted", { ...login, since: at("10:00:00") }),
          app("b", "NotAccepted", { ...login, since: at("09:00:00") }),
          app("with-another", "NotAccepted", { ...login, secret: "other" }),
          app("no-version", "NotAccepted", version),
          app("no-version-either", "NotAccepted", version),
        ],
        [paris],
      ),
      nowMs,
    );
    assert.deepEqual(
      concerns.map(({ name, same }) => [name, same.length]),
      [["b", 2], ...["no-version", "no-version-either", "with-another"].map((name) => [name, 0])],
    );
  });

  test("for what others wait for", () => {
    const base = { kind: "HelmRelease", namespace: "ns", name: "base" } as const;
    const state = fleet(
      [
        app("base", "NotAccepted", { kind: "HelmRelease", desired: 0 }),
        app("middle", "WaitApplied", { ...waitingFor("base"), since: at("11:00:00") }),
        app("last", "WaitApplied", { ...waitingFor("middle"), since: at("11:00:00") }),
      ],
      [paris],
    );
    const concerns = concernsOf(state, nowMs);
    assert.deepEqual(names(concerns), ["base"]);
    assert.deepEqual(
      concerns[0]?.affected.map(({ name }) => name),
      ["middle", "last"],
    );
    const about = concernAbout(state, { ...base, name: "last" }, nowMs);
    assert.deepEqual([about?.own.state, about?.cause], ["Blocked", base]);
  });
});

function waitingFor(name: string): Partial<App> {
  const kind = "HelmRelease" as const;
  return { kind, waitsFor: [{ kind, namespace: "ns", name }] };
}
