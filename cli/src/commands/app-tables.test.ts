import assert from "node:assert/strict";
import { appKinds } from "@flotilla/shared/api/apps";
import { bundleNameOf, helmOpLabel, helmReleaseLabel } from "@flotilla/shared/api/names";
import type { KubeObject } from "@flotilla/shared/kube/objects";
import { describe, test } from "vitest";
import { appTables } from "./app-tables.ts";

type Labels = Readonly<Record<string, string>>;

function anObject(name: string, status: object = {}, labels: Labels = {}): KubeObject {
  const metadata = { namespace: "apps", name, labels };
  return Object.assign({ apiVersion: "v1", kind: "Any", metadata }, { status });
}

const summary = { ready: 1, desiredReady: 2 };

describe("the tables of apps", () => {
  test("are one for each kind with apps, in the order of the kinds", () => {
    const apps = new Map(appKinds.map((kind) => [kind, [anObject("web")]]));

    const headers = appTables(apps).map((table) => table.split(" ")[0]);
    assert.deepEqual(
      headers,
      appKinds.map((kind) => kind.toUpperCase()),
    );
    assert.deepEqual(appTables(new Map([["HelmOp", []]])), []);
  });

  test("have the version, how many clusters are ready, and in one line why not all", () => {
    const ready = {
      type: "Ready",
      status: "False",
      message: "paris: timed\nout\u001b[2J",
    } as const;
    const ofHelmOp = anObject("web", { version: "1.2.9", summary, conditions: [ready] });
    const ofRelease = anObject("db", { history: [{ chartVersion: "2.0.0" }], summary });

    assert.deepEqual(
      appTables(
        new Map([
          ["HelmOp", [ofHelmOp]],
          ["HelmRelease", [ofRelease]],
        ]),
      ),
      [
        "HELMOP     VERSION   READY   MESSAGE\napps/web   1.2.9     1/2     paris: timed out\ufffd[2J\n",
        "HELMRELEASE   VERSION   READY   MESSAGE\napps/db       2.0.0     1/2\n",
      ],
    );
  });

  test("say what a rollout waits for while all clusters are ready with the version before", () => {
    const conditions = [{ type: "Ready", status: "True", message: "" }] as const;
    const messageOf = (rollout: object) => {
      const app = anObject("web", { version: "1.2.9", summary, conditions, rollout });
      const [table = ""] = appTables(new Map([["HelmOp", [app]]]));
      return table.split("\n")[1]?.slice("apps/web   1.2.9     1/2".length).trim();
    };

    assert.equal(
      messageOf({ phase: "RolledBack", message: "clusters have got back what they had before" }),
      "rollout RolledBack: clusters have got back what they had before",
    );
    assert.equal(messageOf({ phase: "Completed" }), "");
    assert.equal(messageOf({ phase: "Superseded", message: "a newer one was started" }), "");
  });

  test("show no Bundle that was made for an app that is shown", () => {
    const apps = new Map([
      ["HelmOp", [anObject("web")]],
      ["HelmRelease", [anObject("web")]],
      [
        "Bundle",
        [
          anObject("web", {}, { [helmOpLabel]: "web" }),
          anObject(bundleNameOf("HelmRelease", "web"), {}, { [helmReleaseLabel]: "web" }),
        ],
      ],
    ] as const);

    assert.equal(appTables(apps).length, 2);
  });

  test("show a Bundle without its app, and one that has the name of an app's only", () => {
    const apps = new Map([
      ["HelmOp", [anObject("web")]],
      ["Bundle", [anObject("web"), anObject("left", {}, { [helmOpLabel]: "left" })]],
    ] as const);

    assert.match(appTables(apps)[1] ?? "", /^BUNDLE .*\napps\/web .*\napps\/left /);
  });
});
